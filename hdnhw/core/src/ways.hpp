// Ways of packets that are not those of the rule alone: Valiant's routing, UGAL and adaptive routing.
#pragma once

#include "worker.hpp"

namespace hdnhw {

// Draw the node that a packet goes by: the same one for all packets of a message, so that they stay in order. It
// follows from cycle, source and destination, as random numbers do from a seed (the finalizer of SplitMix64, Steele and
// others, OOPSLA 2014).
template <class K>
void Worker<K>::draw(Part& part, u32 node, u32 entry) {
    const Packet& packet = part.entries.packets[entry];
    u64 word = static_cast<u64>(static_cast<i64>(packet.created)) * 0x1F123BB5159A55E5u;
    word += static_cast<u64>(part.begin + node) * 0x5851F42D4C957F2Du;
    word += static_cast<u64>(static_cast<i64>(packet.destination));
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
    word = (word ^ word >> 27) * 0x94D049BB133111EBu;
    word ^= word >> 31;
    part.entries.extras[entry].by = static_cast<i32>((word & ~(u64{1} << 63)) % static_cast<u64>(m.drawn));
}

// Choose the way of a packet that a source sends; if it hangs on a switch, that is left to the switch, which alone
// knows how packets before went.
template <class K>
void Worker<K>::choose(Part& part, u32 node, u32 entry) {
    i32& by = part.entries.extras[entry].by;
    if (!m.hangs[part.begin + node])
        choose_at(part, node, part.begin + node, entry);
    else if (m.address[part.begin + node] != part.entries.packets[entry].destination)
        by |= UNDECIDED;
    else
        by = STRAIGHT;
}

// Send a packet straight if its hops times the packets in front of it are no more than on the way by another node. The
// packets of a message take one way, so that they stay in order.
template <class K>
void Worker<K>::choose_at(Part& part, u32 node, i64 source, u32 entry) {
    const Packet& packet = part.entries.packets[entry];
    i32* const last = s.chosen.begin() + 3 * source;
    const i64 own = part.begin + node;
    if (last[0] != packet.created || last[1] != packet.destination) {
        i32 by = part.entries.extras[entry].by & (UNDECIDED - 1);
        const i32 end = m.drawn_nodes[by], target = m.drawn_targets[by];
        i64 stop, ignored;
        const i64 direct = hops(own, packet.destination, packet.destination, m.nodes, ignored);
        const i64 there = hops(own, end, target, m.nodes, stop);
        const i64 onward = hops(stop, packet.destination, packet.destination, m.nodes, ignored);
        const i64 straight = direct * ahead_of(part, node, packet.destination, m.first_vc);
        const i64 aside = (there + onward) * ahead_of(part, node, target, 0);
        if (there == 0 || straight <= aside) by = STRAIGHT;
        last[0] = packet.created, last[1] = packet.destination, last[2] = by;
    }
    part.entries.extras[entry].by = last[2];
}

// The hops of the way to a node, or to the target that it is routed to, and where it ends: after `most` of them.
template <class K>
i64 Worker<K>::hops(i64 node, i32 end, i32 target, i64 most, i64& stop) const {
    i64 count = 0;
    for (stop = node; m.address[stop] != end && m.address[stop] != target && count < most; count++)
        stop = m.neighbor(stop, way_to(m.address[stop], target) >> vc_bits_);
    return count;
}

// The packets in the virtual channel by which a router sends to a target, as far as it knows.
template <class K>
i64 Worker<K>::ahead_of(Part& part, u32 node, i32 target, i64 first_vc) const {
    const i64 way = way_to(m.address[part.begin + node], target) + first_vc;
    return m.room[way] - routers.credits(routers[part.begin + node])[way];
}

// Choose anew the virtual channel by which each packet leaves that a router may send in this slot.
template <class K>
void Worker<K>::adapt(Part& part, u32 node, Router& router) {
    Link* const links = part.entries.links.begin();
    for (u32 head = router.first; head != NONE; head = links[head].next)
        for (u32 entry = head; entry != NONE; entry = m.rounds ? links[entry].behind : NONE)
            links[entry].way = freest(part, node, router, entry);
}

// The adaptive virtual channel with the most credits of the ports that lead nearer, else that of the rule. Of equal
// ones the rule's port comes first, then the others in the order of ports.
template <class K>
u16 Worker<K>::freest(Part& part, u32 node, Router& router, u32 entry) {
    const i64 words = m.adaptive_words(), own = part.begin + node;
    i64* const nearer = part.entries.nearer.begin() + entry * words;
    if (nearer[0] < 0) {  // note the ports behind which the rule has fewer hops, none where the packet is to be ejected
        nearer[0] = ~nearer[0];
        std::fill(nearer + 1, nearer + words, 0);
        if (nearer[0] >> vc_bits_ < m.ports) {
            const i32 end = part.entries.packets[entry].destination;
            i64 ignored;
            const i64 most = hops(own, end, end, m.nodes, ignored);
            for (i64 port = 0; port < m.ports; port++) {
                const i64 following = m.neighbor(own, port);
                if (following >= 0 && hops(following, end, end, most, ignored) < most)
                    nearer[1 + port / 64] |= static_cast<i64>(u64{1} << (port % 64));
            }
        }
    }
    const Word* const credits = routers.credits(router);
    i64 best = nearer[0], most = 0;
    const i64 rule_port = best >> vc_bits_;
    for (i64 word = 0; word < words - 1; word++)
        for (u64 bits = static_cast<u64>(nearer[1 + word]); bits; bits &= bits - 1) {
            const i64 port = 64 * word + lowest(bits);
            for (i64 vc = 0; vc < m.first_vc; vc++) {
                const i64 way = port << vc_bits_ | vc;
                i64 free = 2 * static_cast<i64>(credits[way]);
                free += free > 0 && port == rule_port;
                if (free > most) best = way, most = free;
            }
        }
    return static_cast<u16>(best);
}

}  // namespace hdnhw
