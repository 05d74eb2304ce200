// Terminals: sources that send into the fabric, and sinks that take packets out of it.
#pragma once

#include "worker.hpp"

namespace hdnhw {

// Let the terminals of a part that never pause go on to the next allocation.
template <class K>
void Worker<K>::work_terminals(Part& part, bool samples, i64 end, i64 limit) {
    offer_until(part, std::min(end, limit - 1));
    slot += samples;
    if (!m.gapless) {
        inject_slot(part, end - m.length + 1, end < limit);
    } else {
        const i64 heads = end - (m.update - m.injection);
        if (heads < limit) inject_gapless(part, heads, true);
    }
    slot -= samples;
}

// Let the terminals of a part that pause have a cycle.
template <class K>
void Worker<K>::work_cycle(Part& part, bool samples, i64 now) {
    const i64 phase = now % m.length;
    if (samples) {
        for (u16 node : part.ejected[0]) routers.credits(routers[part.begin + node])[local_]++;
        part.ejected[0].clear();
        store_leaving(part);
    }
    offer_until(part, now);
    slot += samples;
    const bool taken = phase == m.injection;
    if (!m.gapless)
        inject_cycle(part, now, taken);
    else if (taken || m.gap)
        inject_gapless(part, now, taken);
    slot -= samples;
    eject_cycle(part, now, m.late <= phase && phase <= m.update);
    if (!m.gap && !m.stall) return;
    for (u32 node = 0; node < part.size; node++) {
        if (now < ahead(part, node)) continue;
        u32& word = part.generators[node];
        word ^= word << 13;
        word ^= word >> 17;
        word ^= word << 5;
    }
}

// Give the sources of a part the packets that they get to send up to a cycle.
template <class K>
void Worker<K>::offer_until(Part& part, i64 now) {
    for (;;) {
        offer_known(part, std::min(now, part.known - 1));
        if (now < part.known) return;
        draw_on(part);
    }
}

// The same of what is known: packets that were given, then messages of the load, in the order of time.
template <class K>
void Worker<K>::offer_known(Part& part, i64 now) {
    for (;;) {
        const bool has_arrival = part.offered < part.arrivals.size(), has_created = part.begun < part.created.size();
        const i64 given = has_arrival ? part.arrivals[part.offered].created : INT64_MAX;
        const i64 drawn = has_created ? part.created[part.begun].cycle : INT64_MAX;
        if (std::min(given, drawn) > now) return;
        if (given <= drawn) {
            const Arrival& arrival = part.arrivals[part.offered++];
            if (part.offered + 7 < part.arrivals.size()) ask(&part.sources[part.arrivals[part.offered + 7].node]);
            offer(part, arrival.node, {arrival.destination, arrival.created, -1, arrival.tag, 0}, arrival.pace);
            continue;
        }
        const Created& message = part.created[part.begun++];
        if (!K::small && part.begun + 7 < part.created.size()) ask(&part.sources[part.created[part.begun + 7].node]);
        const i64 source = part.begin + message.node;
        const i32 tag = static_cast<i32>(source << Row::SOURCE);
        const i64 packets = message.flits <= m.length ? 1 : (message.flits + m.length - 1) / m.length;
        s.ledger->create(thread_, message.cycle, source, message.destination, packets, message.flits);
        const i32 end = m.address[message.destination];
        for (i64 k = 0; k < packets; k++)
            offer(part, message.node,
                  {end, message.cycle, -1, tag | (packets == 1 ? Row::ALONE : k ? 0 : Row::FIRST), 0},
                  ANYWHERE);
    }
}

template <class K>
inline void Worker<K>::offer(Part& part, u32 node, const Packet& packet, i32 pace) {
    const u32 entry = part.entries.take();
    part.entries.packets[entry] = packet;
    part.entries.links[entry].next = NONE;
    if (has_extra_) part.entries.extras[entry] = {0, pace};
    if (m.is_drawn()) draw(part, node, entry);
    Source& source = part.sources[node];
    if (source.first == NONE) {
        source.first = entry;
        part.sending.add(node);
    } else {
        part.entries.links[source.last].next = entry;
    }
    source.last = entry;
    progress.offered++;
}

// Draw the messages of a stretch of cycles, when all before have been offered.
template <class K>
void Worker<K>::draw_on(Part& part) {
    const i64 begin = part.known;
    part.known += s.stretch;
    drawn.clear();
    places.assign(s.stretch + 1, 0);
    part.creation.in_turns(part.known - s.origin, [&](const Message& message) {
        const i64 cycle = s.origin + message.cycle;
        if (cycle > INT32_MAX) return;  // behind the last cycle of any run
        places[cycle - begin + 1]++;
        drawn.push({static_cast<i32>(cycle), static_cast<i32>(message.destination),
                    static_cast<u32>(message.source - part.begin), static_cast<u32>(message.flits)});
    });
    for (i64 k = 0; k < s.stretch; k++) places[k + 1] += places[k];
    part.created.resize(drawn.size());
    for (const Created& message : drawn) part.created[places[message.cycle - begin]++] = message;
    part.begun = 0;
}

// Take the tail of a source's packet, or the head of a gapless one, in a cycle. One that is for no node is dropped.
template <class K>
__attribute__((always_inline)) inline void Worker<K>::accept(Part& part, u32 node, i64 now) {
    Source& source = part.sources[node];
    const u32 entry = source.first;
    count_injected(part, node);
    source.first = part.entries.links[entry].next;
    source.position = 0;
    if (source.first == NONE) part.sending.drop(node);
    if (part.entries.packets[entry].destination < 0) {
        s.dropped[part.begin + node]++;
        progress.lost++;
        progress.ended = std::max(progress.ended, now - ahead(part, node) + 1);
        part.lost.push(part.entries.packets[entry]);
        part.lost_node.push(static_cast<u16>(node));
        part.entries.give(entry);
        return;
    }
    if constexpr (K::small)
        routers[node].credits[K::INJECTION]--;
    else
        source.occupied++;
    if (m.scheme == UGAL) choose(part, node, entry);
    accepted.push({entry, static_cast<u16>(node), local_});
}

// Sources that never pause offer flits for a slot that begins in cycle `begin` and ends in an update phase. A packet
// whose head is accepted in the first cycle is complete in the last one, if tails are accepted there at all; another
// one waits for the next update phase.
template <class K>
void Worker<K>::inject_slot(Part& part, i64 begin, bool tails) {
    complete.resize(part.size);
    std::size_t count = 0;
    part.sending.each([&](u32 node) {
        Source& source = part.sources[node];
        Packet& packet = part.entries.packets[source.first];
        const i64 early = ahead(part, node), start = std::max({packet.created + early, begin, i64{0}});
        if (is_full(part, node)) {
            if (tails && packet.created + early < begin + m.length) count_waiting(part, node);
            return;
        }
        const bool begun = source.position > 0, begins = !begun && start < begin + m.length;
        packet.head = begins ? static_cast<i32>(start - early) : packet.head;
        source.position = begun || begins;
        complete[count] = node;
        count += begun || start == begin;
    });
    for (std::size_t k = 0; tails && k < count; k++) accept(part, complete[k], begin + m.length - 1);
    enter_all(part, accepted, 0);
}

// Sources offer the heads of gapless packets, which are accepted only if `taken`. Those that never pause need not be
// asked in other cycles.
template <class K>
void Worker<K>::inject_gapless(Part& part, i64 now, bool taken) {
    if (m.gap && taken)
        for (Source& source : part.sources) source.position = 0;
    part.sending.each([&](u32 node) {
        Source& source = part.sources[node];
        Packet& packet = part.entries.packets[source.first];
        const i64 early = ahead(part, node);
        if (source.position || std::max<i64>(packet.created + early, 0) > now) return;
        if (m.gap && !source.offering && (part.generators[node] & 255) < static_cast<u32>(m.gap)) return;
        source.offering = 1;
        if (!taken) return;
        if (is_full(part, node)) {
            count_waiting(part, node);
            return;
        }
        packet.head = static_cast<i32>(now - early);
        accept(part, node, now);
        source.offering = 0;
        source.position = m.gap > 0;
    });
    enter_all(part, accepted, 0);
}

// Sources that pause offer a flit each; a tail is accepted only if `tails`.
template <class K>
void Worker<K>::inject_cycle(Part& part, i64 now, bool tails) {
    part.sending.each([&](u32 node) {
        Source& source = part.sources[node];
        Packet& packet = part.entries.packets[source.first];
        const i64 early = ahead(part, node);
        if (packet.created + early > now) return;
        if (!source.offering && (part.generators[node] & 255) < static_cast<u32>(m.gap)) return;
        const bool full = is_full(part, node);
        if (full || (source.position == m.length - 1 && !tails)) {
            if (tails) count_waiting(part, node);
            source.offering = 1;
            return;
        }
        source.offering = 0;
        if (source.position == 0) packet.head = static_cast<i32>(now - early);
        if (++source.position == m.length) accept(part, node, now);
    });
    enter_all(part, accepted, 0);
}

// Put packets into the ejection buffers of sinks that pause.
template <class K>
void Worker<K>::store_leaving(Part& part) {
    for (std::size_t k = 0; k < part.leaving.size(); k++) {
        const u32 node = part.leaving_node[k];
        Sink& sink = part.sinks[node];
        const i64 place = node * m.ejection_buffers + (sink.first + sink.level) % m.ejection_buffers;
        part.stored[place] = part.leaving[k];
        part.ready[place] = (slot + 1) * m.length + m.ejection_cycles;
        sink.level++;
    }
    part.leaving.clear();
    part.leaving_node.clear();
}

// Sinks that pause take a flit each. Where it is `late`, the place of a packet is free an allocation later.
template <class K>
void Worker<K>::eject_cycle(Part& part, i64 now, bool late) {
    for (u32 node = 0; node < part.size; node++) {
        Sink& sink = part.sinks[node];
        if (sink.level == 0 || now - ahead(part, node) < m.hold) continue;
        const i64 place = node * m.ejection_buffers + sink.first;
        if (part.ready[place] + sink.taken > now) continue;
        const u32 entry = part.stored[place];
        const i32 pace = part.entries.extras[entry].pace;
        const bool may_pause = pace == ANYWHERE || (pace == AT_HOME && part.entries.packets[entry].destination ==
                                                                           m.address[part.begin + node]);
        if (may_pause && (part.generators[node] >> 8 & 255) < static_cast<u32>(m.stall)) continue;
        if (++sink.taken < m.length) continue;
        sink.taken = 0;
        sink.first = (sink.first + 1) % m.ejection_buffers;
        sink.level--;
        if (late)
            part.ejected[0].push(static_cast<u16>(node));
        else
            routers.credits(routers[part.begin + node])[local_]++;
        leave(part, node, entry, now);
    }
}

// Note a packet whose tail is taken in a cycle.
template <class K>
inline void Worker<K>::leave(Part& part, u32 node, u32 entry, i64 tail) {
    const Packet& packet = part.entries.packets[entry];
    const i32 told = static_cast<i32>(tail - ahead(part, node));
    const Row row{packet.destination, packet.created, packet.head, packet.tag, static_cast<i32>(packet.hops), told,
                  static_cast<i32>(part.begin + node)};
    if (s.ledger && packet.tag >= 0)
        s.ledger->take(thread_, row, packet.destination == m.address[part.begin + node]);
    else
        out.push(row);
    progress.left++;
    progress.ended = std::max<i64>(progress.ended, told + 1);
    part.entries.give(entry);
}

}  // namespace hdnhw
