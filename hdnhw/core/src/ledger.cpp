// Ledgers as Python reads them, and fills them in where something else than the core has moved the packets.
#include "ledger.hpp"

using namespace hdnhw;

namespace {

Ledger& ledger_at(void* ledger) { return *static_cast<Ledger*>(ledger); }

template <class Of>
void add(const List<Of>& series, i64* out) {
    for (std::size_t k = 0; k < series.size(); k++) out[k] += static_cast<i64>(series[k]);
}

}  // namespace

HDNHW_API void* ledger_make(i64 nodes, i64 threads) {
    Ledger* made = nullptr;
    guarded([&] { made = new Ledger(nodes, threads); });
    return made;
}
HDNHW_API void ledger_free(void* ledger) { delete static_cast<Ledger*>(ledger); }

// Count from now on; return the number of the tally, -1 if there is no memory for it.
HDNHW_API i64 ledger_add(void* ledger, i64 start, i64 stop, i64 parts, i64* flows, i64 flow_nodes) {
    i64 number = -1;
    guarded([&] { number = ledger_at(ledger).add(start, stop, parts, flows, flow_nodes); });
    return number;
}
HDNHW_API void ledger_stop(void* ledger, i64 number, i64 stop) { ledger_at(ledger).tally(number).end_at(stop); }
HDNHW_API void ledger_ended(void* ledger, i64* out) { ledger_at(ledger).ended(out, out + 1); }

// Add up a tally: numbers of Share, its series, axes (series, part).
HDNHW_API void ledger_read(void* ledger, i64 number, i64* numbers, i64* series) {
    Tally& tally = ledger_at(ledger).tally(number);
    for (i64 thread = 0; thread < ledger_at(ledger).threads(); thread++) {
        const Share& share = tally.shares[thread];
        for (int k = 0; k < Share::NUMBERS; k++) numbers[k] = sum(numbers[k], share.numbers[k]);
        for (int k = 0; k < Share::SERIES; k++) add(share.series[k], series + k * tally.parts);
    }
}

// Add up the packets taken of each source.
HDNHW_API void ledger_taken(void* ledger, i64 number, i64* taken) {
    Tally& tally = ledger_at(ledger).tally(number);
    for (i64 thread = 0; thread < ledger_at(ledger).threads(); thread++) add(tally.shares[thread].taken, taken);
}

// Add up a histogram, of latencies from creation or from the acceptance of the head; return its length.
HDNHW_API i64 ledger_histogram(void* ledger, i64 number, i64 from_head, i64* out) {
    Tally& tally = ledger_at(ledger).tally(number);
    const auto of = [&](Share& share) -> List<i64>& { return from_head ? share.network : share.latency; };
    std::size_t longest = 0;
    for (i64 thread = 0; thread < ledger_at(ledger).threads(); thread++) {
        const List<i64>& own = of(tally.shares[thread]);
        longest = std::max(longest, own.size());
        if (out) add(own, out);
    }
    return static_cast<i64>(longest);
}

// Enter what was created, columns of messages, and rows of packets that have left up to a cycle, each with whether it
// was at its destination; return 0, or 1 if there is no memory for it.
HDNHW_API i64 ledger_enter(void* ledger, i64 limit, const i64* cycle, const i64* source, const i64* destination,
                           const i64* packets, const i64* flits, i64 messages, const i32* rows, const u8* home,
                           i64 count) {
    return guarded([&] {
        Ledger& own = ledger_at(ledger);
        own.open(limit);
        for (i64 k = 0; k < messages; k++) own.create(0, cycle[k], source[k], destination[k], packets[k], flits[k]);
        for (i64 k = 0; k < count; k++) {
            Row row;
            std::memcpy(&row, rows + 7 * k, sizeof(Row));
            own.take(0, row, home[k]);
        }
        own.close();
    });
}
