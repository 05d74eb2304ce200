// What is counted of the messages of a load, and of their packets: by the threads that see them, then in one.
#pragma once

#include <algorithm>
#include <memory>

#include "common.hpp"

namespace hdnhw {

// A packet that has left, as hdnhw.model.core has it. The tag of one of a load is its source with two bits behind it:
// whether it is all of its message, and whether it is the first of several.
struct Row {
    i32 destination, created, head, tag, hops, tail, node;

    static constexpr i32 ALONE = 1, FIRST = 2, SOURCE = 2;
    i32 source() const { return tag >> SOURCE; }
};

// Of the messages that are created in an interval of cycles, and the packets that are taken in it: what a thread saw.
struct Share {
    enum Number { CREATED, PACKETS, SQUARES, FLITS, DELIVERED, STRANDED, WAITED, HOPS, HOP_SQUARES, DIGEST, NUMBERS };
    i64 numbers[NUMBERS]{};  // of packets a message and hops the squares, too; WAITED: sum of latencies
    enum Series { OFFERED, ARRIVED, ELSEWHERE, MESSAGES, LATENCIES, SERIES };
    List<i64> series[SERIES];  // packets created and taken, messages delivered: by parts of the interval
    List<i64> latency, network;  // histograms
    List<u32> taken;             // axis (source): packets that were taken at their destination
};

// Modulo 2^64: of digests.
inline i64 sum(i64 one, i64 other) { return static_cast<i64>(static_cast<u64>(one) + static_cast<u64>(other)); }

struct Tally {
    i64 start, stop, parts;
    i64 *messages, *total, *most;  // axes (source, destination): of latencies of flows, or none
    i64 nodes;
    std::unique_ptr<Share[]> shares;
    u64 inverse = 0;  // of its cycles: 2^64 over them

    bool has(i64 cycle) const { return start <= cycle && cycle < stop; }
    void end_at(i64 cycle) { stop = cycle, inverse = ~u64{0} / std::max<u64>(1, static_cast<u64>(stop - start)); }
    // A quotient: of less than 2^38, so that it is one too low at most before it is corrected.
    i64 part(i64 cycle) const {
        __extension__ using Wide = unsigned __int128;
        const u64 whole = static_cast<u64>((cycle - start) * parts), length = static_cast<u64>(stop - start);
        const u64 found = static_cast<u64>(static_cast<Wide>(whole) * inverse >> 64);
        return static_cast<i64>(found + (whole - found * length >= length));
    }
};

// Messages of several packets of which some have not left. Source and cycle name one: a source creates one a cycle.
class UnderWay {
   public:
    struct Message {
        u64 name;  // 0 in a place that is free
        i64 missing;
        i32 head;
        bool home;
        Row last;
    };
    UnderWay() { places_.assign(64, Message{}); }
    static u64 name_of(i64 source, i64 created) {
        return static_cast<u64>(source) << 32 | static_cast<u64>(created + 1);
    }

    void add(u64 name, i64 packets) {
        if (2 * ++count_ > places_.size()) grow();
        Message& message = places_[find(name)];
        message = {name, packets, -1, true, {}};
        message.last.tail = -1;
    }
    Message& operator[](u64 name) { return places_[find(name)]; }
    void drop(u64 name) {
        count_--;
        std::size_t hole = find(name);
        for (std::size_t place = next(hole); places_[place].name; place = next(place)) {
            const std::size_t wanted = first(places_[place].name);
            if (((place - wanted) & mask()) < ((place - hole) & mask())) continue;
            places_[hole] = places_[place];
            hole = place;
        }
        places_[hole].name = 0;
    }

   private:
    std::size_t mask() const { return places_.size() - 1; }
    std::size_t next(std::size_t place) const { return (place + 1) & mask(); }
    std::size_t first(u64 name) const { return static_cast<std::size_t>(name * 0x9E3779B97F4A7C15 >> 20) & mask(); }
    std::size_t find(u64 name) const {
        std::size_t place = first(name);
        while (places_[place].name && places_[place].name != name) place = next(place);
        return place;
    }
    void grow() {
        List<Message> old;
        for (const Message& message : places_)
            if (message.name) old.push(message);
        places_.assign(2 * places_.size(), Message{});
        for (const Message& message : old) places_[find(message.name)] = message;
    }
    List<Message> places_;
    std::size_t count_ = 0;
};

class Ledger {
   public:
    Ledger(i64 nodes, i64 threads) : nodes_(nodes), threads_(threads), own_(new Own[threads]) {}

    // Count from now on; packets count that have left but are taken later. Return the number of the tally.
    i64 add(i64 start, i64 stop, i64 parts, i64* flows, i64 flow_nodes) {
        auto made = std::make_unique<Tally>();
        const i64 pairs = flow_nodes * flow_nodes;
        *made = {start, stop, parts, flows, flows ? flows + pairs : nullptr, flows ? flows + 2 * pairs : nullptr,
                 flow_nodes, std::make_unique<Share[]>(threads_)};
        made->end_at(stop);
        for (i64 thread = 0; thread < threads_; thread++) {
            for (List<i64>& series : made->shares[thread].series) series.assign(parts, 0);
            made->shares[thread].taken.assign(nodes_, 0);
            for (const Left& left : own_[thread].ahead) count_taken(*made, thread, left.row, left.home);
        }
        if (count_ == MOST) throw std::bad_alloc();
        tallies_[count_] = std::move(made);
        return count_++;
    }
    Tally& tally(i64 number) { return *tallies_[number]; }
    i64 threads() const { return threads_; }
    i64 nodes() const { return nodes_; }

    // Begin to go on to a cycle.
    void open(i64 limit) {
        limit_ = limit;
        for (i64 thread = 0; thread < threads_; thread++) {
            List<Left>& ahead = own_[thread].ahead;
            std::size_t kept = 0;
            for (const Left& left : ahead)
                if (left.row.tail >= limit) ahead[kept++] = left;
            ahead.resize(kept);
        }
    }
    void create(i64 thread, i64 cycle, i64 source, i64 destination, i64 packets, i64 flits) {
        if (packets > 1) own_[thread].begun.push({UnderWay::name_of(source, cycle), packets});
        for (i64 k = 0; k < count_; k++) {
            Tally& tally = *tallies_[k];
            if (!tally.has(cycle)) continue;
            Share& share = tally.shares[thread];
            share.numbers[Share::CREATED]++;
            share.numbers[Share::PACKETS] += packets;
            share.numbers[Share::SQUARES] += packets * packets;
            share.numbers[Share::FLITS] += flits;
            i64& digest = share.numbers[Share::DIGEST];
            digest = sum(digest, digest_of(cycle - tally.start, source, destination));
            share.series[Share::OFFERED][tally.part(cycle)] += packets;
        }
    }
    void take(i64 thread, const Row& row, bool home) {
        for (i64 k = 0; k < count_; k++) count_taken(*tallies_[k], thread, row, home);
        if (row.tail >= limit_) own_[thread].ahead.push({row, home});
        if (row.tag & Row::ALONE)
            end(thread, row, row.head, home);
        else
            own_[thread].pieces.push({row, home});
    }
    // Count the messages of several packets that have left whole, when no thread works.
    void close() {
        for (i64 thread = 0; thread < threads_; thread++) {
            for (const Begun& begun : own_[thread].begun) under_way_.add(begun.name, begun.packets);
            own_[thread].begun.clear();
        }
        for (i64 thread = 0; thread < threads_; thread++) {
            for (const Left& left : own_[thread].pieces) {
                const u64 name = UnderWay::name_of(left.row.source(), left.row.created);
                UnderWay::Message& message = under_way_[name];
                if (left.row.tag & Row::FIRST) message.head = left.row.head;
                if (left.row.tail > message.last.tail) message.last = left.row, message.home = left.home;
                if (--message.missing) continue;
                end(thread, message.last, message.head, message.home);
                under_way_.drop(name);
            }
            own_[thread].pieces.clear();
        }
    }
    // Messages that have left at their destination since the beginning, and the sum of their latencies.
    void ended(i64* messages, i64* waited) const {
        *messages = *waited = 0;
        for (i64 thread = 0; thread < threads_; thread++)
            *messages += own_[thread].ended, *waited += own_[thread].waited;
    }

    struct Left {
        Row row;
        bool home;
    };
    List<Left>& pieces(i64 thread) { return own_[thread].pieces; }  // left since the last close

   private:
    static constexpr i64 MOST = 4;
    struct Begun {
        u64 name;
        i64 packets;
    };
    struct alignas(128) Own {  // of a thread
        List<Left> ahead, pieces;  // packets that are taken behind the cycle gone on to; those of messages of several
        List<Begun> begun;
        i64 ended = 0, waited = 0;
    };

    // Of a message, to be added up to that of many in any order.
    static i64 digest_of(i64 cycle, i64 source, i64 destination) {
        u64 word = (static_cast<u64>(cycle) * 0x9E3779B97F4A7C15 + static_cast<u64>(source)) * 0xC2B2AE3D27D4EB4F;
        word = (word ^ word >> 29 ^ static_cast<u64>(destination)) * 0xBF58476D1CE4E5B9;
        return static_cast<i64>((word ^ word >> 32) * 0x94D049BB133111EB >> 1);
    }
    static void count_taken(Tally& tally, i64 thread, const Row& row, bool home) {
        if (!tally.has(row.tail)) return;
        Share& share = tally.shares[thread];
        share.series[home ? Share::ARRIVED : Share::ELSEWHERE][tally.part(row.tail)]++;
        if (home) share.taken[row.source()]++;
    }
    static void count_in(List<i64>& histogram, i64 place) {
        while (static_cast<i64>(histogram.size()) <= place) histogram.push(0);
        histogram[place]++;
    }
    // Count a message that has left, the last packet of which is told.
    void end(i64 thread, const Row& row, i32 head, bool home) {
        const i64 latency = row.tail - row.created;
        if (home) own_[thread].ended++, own_[thread].waited += latency;
        for (i64 k = 0; k < count_; k++) {
            Tally& tally = *tallies_[k];
            if (!tally.has(row.created)) continue;
            Share& share = tally.shares[thread];
            share.numbers[home ? Share::DELIVERED : Share::STRANDED]++;
            if (!home) continue;
            share.numbers[Share::WAITED] += latency;
            share.numbers[Share::HOPS] += row.hops;
            share.numbers[Share::HOP_SQUARES] += static_cast<i64>(row.hops) * row.hops;
            const i64 part = tally.part(row.created);
            share.series[Share::MESSAGES][part]++;
            share.series[Share::LATENCIES][part] += latency;
            count_in(share.latency, latency);
            count_in(share.network, row.tail - head);
            if (!tally.messages) continue;
            const i64 flow = row.source() * tally.nodes + row.node;
            tally.messages[flow]++;
            tally.total[flow] += latency;
            tally.most[flow] = std::max(tally.most[flow], latency);
        }
    }

    const i64 nodes_, threads_;
    std::unique_ptr<Own[]> own_;
    std::unique_ptr<Tally> tallies_[MOST];
    i64 count_ = 0, limit_ = 0;
    UnderWay under_way_;
};

}  // namespace hdnhw
