// Traffic by windows of cycles, in the order of time.
#include "traffic.hpp"

#include <algorithm>
#include <memory>

using namespace hdnhw;

namespace {

struct Windows {
    Creation creation;
    List<Message> drawn, sorted;
    List<i64> places;
    i64 cycle = 0;

    // Draw the messages of the next cycles into `sorted`: those of a cycle in the order of senders.
    void draw(i64 cycles) {
        drawn.clear();
        creation.before(cycle + cycles, [&](const Message& message) { drawn.push(message); });
        sorted.resize(drawn.size());
        if (static_cast<u64>(cycles) > 8 * drawn.size() + 64) {
            std::copy(drawn.begin(), drawn.end(), sorted.begin());
            std::stable_sort(sorted.begin(), sorted.end(),
                             [](const Message& one, const Message& other) { return one.cycle < other.cycle; });
        } else {
            places.assign(cycles + 1, 0);
            for (const Message& message : drawn) places[message.cycle - cycle + 1]++;
            for (i64 k = 0; k < cycles; k++) places[k + 1] += places[k];
            for (const Message& message : drawn) sorted[places[message.cycle - cycle]++] = message;
        }
        cycle += cycles;
    }
};

}  // namespace

// The messages of a load from cycle 0 on; none if there is no memory for it.
HDNHW_API void* traffic_make(const Traffic* traffic) {
    std::unique_ptr<Windows> made;
    const i64 failed = guarded([&] {
        made = std::make_unique<Windows>();
        made->creation.make(*traffic, 0, traffic->senders);
    });
    return failed ? nullptr : made.release();
}
HDNHW_API void traffic_free(void* windows) { delete static_cast<Windows*>(windows); }

// Draw the messages of the next cycles; return how many there are, -1 if there is no memory for them.
HDNHW_API i64 traffic_draw(void* windows, i64 cycles) {
    Windows& own = *static_cast<Windows*>(windows);
    return guarded([&] { own.draw(cycles); }) ? -1 : static_cast<i64>(own.sorted.size());
}

// Copy what was drawn, axes (cycle from the window's first, source, destination, flits; message).
HDNHW_API void traffic_take(const void* windows, i64 first, i64* out) {
    const List<Message>& sorted = static_cast<const Windows*>(windows)->sorted;
    const i64 count = static_cast<i64>(sorted.size());
    for (i64 k = 0; k < count; k++) {
        out[k] = sorted[k].cycle - first;
        out[count + k] = sorted[k].source;
        out[2 * count + k] = sorted[k].destination;
        out[3 * count + k] = sorted[k].flits;
    }
}

// Where messages of these sources and numbers go.
HDNHW_API void traffic_destinations(const Traffic* traffic, const i64* source, const i64* number, i64 count, i64* out) {
    for (i64 k = 0; k < count; k++) {
        const u64 own = static_cast<u64>(number[k]);
        const u64 word = random(traffic->key, own, static_cast<u32>(source[k]), MESSAGE).second;
        out[k] = destination_of(*traffic, source[k], own, word);
    }
}
