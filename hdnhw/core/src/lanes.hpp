// Bytes of 32 simulations side by side, a lane each, and what is done with them.
#pragma once

#include "common.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace hdnhw {

constexpr int LANES = 32;
using Plane = u8 __attribute__((vector_size(LANES)));  // axis (lane)
using Pairs = u16 __attribute__((vector_size(LANES)));

// Masks have all bits of a lane, or none.
inline Plane all(int byte) { return Plane{} + static_cast<u8>(byte); }
inline Plane is(Plane one, Plane other) { return reinterpret_cast<Plane>(one == other); }
inline Plane is_none(Plane plane) { return is(plane, Plane{}); }
inline Plane has(Plane plane, int bit) { return is(plane & all(1 << bit), all(1 << bit)); }

// Bits of each lane in another place; those that would leave the lane are none.
inline Plane moved(Plane plane, int up) {
    const Pairs pairs = reinterpret_cast<Pairs>(plane);
    return reinterpret_cast<Plane>(up < 0 ? pairs >> static_cast<u16>(-up) : pairs << static_cast<u16>(up));
}

#if defined(__AVX2__)
inline __m256i wide(Plane plane) { return reinterpret_cast<__m256i>(plane); }
inline u32 lanes_of(Plane mask) { return static_cast<u32>(_mm256_movemask_epi8(wide(mask))); }
inline bool any(Plane plane) { return !_mm256_testz_si256(wide(plane), wide(plane)); }
inline Plane either(Plane mask, Plane yes, Plane no) {
    return reinterpret_cast<Plane>(_mm256_blendv_epi8(wide(no), wide(yes), wide(mask)));
}
// What a table of blocks of 16 has at a place, or 0 behind it.
inline Plane lookup(const u8* table, int blocks, Plane place) {
    Plane found{};
    for (int block = 0; block < blocks; block++) {
        const __m128i part = _mm_load_si128(reinterpret_cast<const __m128i*>(table) + block);
        const __m256i own = _mm256_broadcastsi128_si256(part);
        const __m256i in = _mm256_adds_epu8(wide(place ^ all(block << 4)), _mm256_set1_epi8(0x70));
        found |= reinterpret_cast<Plane>(_mm256_shuffle_epi8(own, in));
    }
    return found;
}
#else
inline u32 lanes_of(Plane mask) {
    u32 found = 0;
    for (int lane = 0; lane < LANES; lane++) found |= static_cast<u32>(mask[lane] & 1) << lane;
    return found;
}
inline bool any(Plane plane) {
    u64 words[LANES / 8];
    std::memcpy(words, &plane, LANES);
    return words[0] | words[1] | words[2] | words[3];
}
inline Plane either(Plane mask, Plane yes, Plane no) { return (yes & mask) | (no & ~mask); }
inline Plane lookup(const u8* table, int, Plane place) {
    Plane found{};
    for (int lane = 0; lane < LANES; lane++) found[lane] = table[place[lane]];
    return found;
}
#endif

}  // namespace hdnhw
