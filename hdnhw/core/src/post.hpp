// What goes from rank to rank. Ranks are processes that share the parts of a fabric; what goes between the threads of
// one stands in memory.
#pragma once

#include <stdexcept>

#include "machine.hpp"

namespace hdnhw {

class Post {
   public:
    // Let `pack` put what is for each other rank, `unpack` get what came from it; return the sum of a number of all.
    template <class Pack, class Unpack>
    i64 exchange(const Machine& m, i64 number, Pack&& pack, Unpack&& unpack) {
        bytes_.clear();
        for (i64 rank = 0; rank < m.ranks; rank++) {
            const std::size_t begin = bytes_.size();
            if (rank != m.rank) {
                put(&number, 1);
                pack(rank);
            }
            m.parcels[rank] = static_cast<i64>(bytes_.size() - begin);
        }
        if (!m.exchange(bytes_.begin())) throw std::runtime_error("the ranks have lost each other");
        i64 total = number, other;
        for (i64 rank = 0; rank < m.ranks; rank++) {
            if (rank == m.rank) continue;
            come_ = reinterpret_cast<const u8*>(m.parcels[rank]);
            get(&other);
            total += other;
            unpack(rank);
        }
        return total;
    }
    template <class T>
    void put(const T* items, u32 count) {
        append(&count, sizeof(count));
        append(items, count * sizeof(T));
    }
    // Get what was put with one call, into a place with room for it; return how many there are.
    template <class T>
    u32 get(T* items) {
        const u32 count = coming();
        if (count) std::memcpy(static_cast<void*>(items), come_ + sizeof(count), count * sizeof(T));
        come_ += sizeof(count) + count * sizeof(T);
        return count;
    }
    u32 coming() const {  // with the next call
        u32 count;
        std::memcpy(&count, come_, sizeof(count));
        return count;
    }

   private:
    void append(const void* from, std::size_t size) {
        const std::size_t begin = bytes_.size();
        if (begin + size > room_) bytes_.reserve(room_ = 2 * (begin + size));
        bytes_.resize(begin + size);
        if (size) std::memcpy(bytes_.begin() + begin, from, size);
    }
    List<u8> bytes_;
    std::size_t room_ = 0;
    const u8* come_ = nullptr;
};

}  // namespace hdnhw
