// What all of the core uses: short names of numbers, arrays whose memory is not touched before it is used.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <type_traits>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

#define HDNHW_API extern "C" __attribute__((visibility("default")))

namespace hdnhw {

using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 NONE = ~u32{0};  // no entry, no node

inline int lowest(u64 bits) { return __builtin_ctzll(bits); }
inline void ask(const void* place) { __builtin_prefetch(place); }

// A list of plain values, which grows and whose new places hold anything.
template <class T>
class List {
    static_assert(std::is_trivially_copyable_v<T>);

   public:
    List() = default;
    List(const List&) = delete;
    List& operator=(const List&) = delete;
    ~List() { std::free(data_); }

    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    T& operator[](std::size_t place) { return data_[place]; }
    const T& operator[](std::size_t place) const { return data_[place]; }
    std::size_t size() const { return size_; }
    void clear() { size_ = 0; }
    void push(const T& value) {
        if (size_ == room_) [[unlikely]]
            reserve(room_ ? 2 * room_ : 16);
        data_[size_++] = value;
    }
    T pop() { return data_[--size_]; }
    void reserve(std::size_t room) {
        if (room <= room_) return;
        void* larger = std::realloc(static_cast<void*>(data_), room * sizeof(T));
        if (!larger) throw std::bad_alloc();
        data_ = static_cast<T*>(larger);
        room_ = room;
    }
    void resize(std::size_t size) {
        reserve(size);
        size_ = size;
    }
    void assign(std::size_t size, T value) {
        resize(size);
        for (std::size_t place = 0; place < size; place++) data_[place] = value;
    }

   private:
    T* data_ = nullptr;
    std::size_t size_ = 0, room_ = 0;
};

// Zeros, of which pages take memory when they are first written, and no others.
class Pages {
   public:
    Pages() = default;
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    ~Pages() { release(); }

    template <class T>
    T* as() {
        return static_cast<T*>(data_);
    }
    void make(std::size_t bytes) {
        release();
        bytes_ = bytes ? bytes : 1;
#if defined(__unix__) || defined(__APPLE__)
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif
        data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
        if (data_ == MAP_FAILED) data_ = nullptr;
#else
        data_ = std::calloc(bytes_, 1);
#endif
        if (!data_) throw std::bad_alloc();
    }

   private:
    void release() {
        if (!data_) return;
#if defined(__unix__) || defined(__APPLE__)
        munmap(data_, bytes_);
#else
        std::free(data_);
#endif
        data_ = nullptr;
    }
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

// Do what a function of C asks for; return 0, or what went wrong: 1 if there is no memory for it.
template <class Do>
inline i64 guarded(Do&& act) {
    try {
        act();
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    } catch (const std::exception&) {
        return 2;
    }
}

}  // namespace hdnhw
