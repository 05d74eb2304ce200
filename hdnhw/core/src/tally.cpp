// What is counted of the packets and messages that leave in a window of cycles, each in one pass over them.
#include <algorithm>

#include "common.hpp"

using namespace hdnhw;

// Packets taken in an interval, by their source if they have arrived; and in each of equal parts of the interval,
// axes (arrived or not, part).
HDNHW_API void tally_taken(const i32* source, const i32* taken, const u8* arrived, i64 count, i64 start, i64 stop,
                           i64* of_source, i64* batches, i64 parts) {
    for (i64 k = 0; k < count; k++) {
        if (taken[k] < start || taken[k] >= stop) continue;
        const i64 batch = (taken[k] - start) * parts / (stop - start);
        if (arrived[k]) of_source[source[k]]++;
        batches[arrived[k] ? batch : parts + batch]++;
    }
}

// Messages created in an interval, and their greatest latency from creation, and from the head.
HDNHW_API void tally_longest(const i32* born, const i32* head, const i32* tail, i64 count, i64 start, i64 stop,
                             i64* found) {
    found[0] = found[1] = found[2] = 0;
    for (i64 k = 0; k < count; k++) {
        if (born[k] < start || born[k] >= stop) continue;
        found[0]++;
        found[1] = std::max<i64>(found[1], tail[k] - born[k]);
        found[2] = std::max<i64>(found[2], tail[k] - head[k]);
    }
}

// Add these messages to the histograms of both latencies, and to each of equal parts of the interval, axes (messages or
// sum of latencies, part); sum their hops and the squares of these.
HDNHW_API void tally_messages(const i32* born, const i32* head, const i32* tail, const i32* hops, i64 count, i64 start,
                              i64 stop, i64* latency, i64* network, double* batches, i64 parts, i64* sums) {
    sums[0] = sums[1] = 0;
    for (i64 k = 0; k < count; k++) {
        if (born[k] < start || born[k] >= stop) continue;
        const i64 cycles = tail[k] - born[k], batch = (born[k] - start) * parts / (stop - start);
        latency[cycles]++;
        network[tail[k] - head[k]]++;
        batches[batch] += 1;
        batches[parts + batch] += static_cast<double>(cycles);
        sums[0] += hops[k];
        sums[1] += static_cast<i64>(hops[k]) * hops[k];
    }
}
