// What does not change in a run: numbers and arrays as hdnhw.model.core hands them over, which keeps them.
#pragma once

#include "rule.hpp"

namespace hdnhw {

constexpr int CLASS_SLOTS = 8;  // as hdnhw.machine.timing has it

enum Scheme : i64 { DIRECT, VALIANT, UGAL, ADAPTIVE };

// Lets a rank give bytes to the others, which stand one after the other, and get theirs; returns whether it could.
using Exchange = i64 (*)(const u8* bytes);

// Ways are output virtual channels and queues are input virtual channels: port << vc_bits | virtual channel. The last
// output is ejection, the last input is injection. A cycle is numbered by the slots of all nodes alike; at odd ones it is
// told `offset` lower.
struct Machine {
    i64 nodes, ports, vc_bits, lane_bits, first_vc, address_bits;
    i64 rounds, early;  // of matching, 0 for first in, first out; whether the first round is of packets that stayed
    i64 length, sample, update, late, ejection_cycles, offset, injection, gapless;
    i64 ejection_slots, injection_buffers, ejection_buffers;
    i64 gap, stall, hold;  // pauses of terminals
    i64 scheme, drawn;
    i64 counting, threads;
    i64 part_nodes;  // of a part at most, 0 for as many as fit into a cache
    i64 ranks, rank;  // processes that share the parts, and which of them this is
    const i32* address;          // axis (node): packed
    const i32* neighbors;        // axes (node, port), -1 where there is none; not asked where a port flips
    const i32* flips;            // axis (port): the bits of its number that lead a node to its neighbor, 0 if no such
    const i32* mirror;           // axis (way): the queue at its end
    const i32* room;             // axis (way): packet buffers at its end
    const i32* latency;          // axis (port): slots, half slots if nodes are odd, from leaving a router to the next
    const i32* credit_latency;   // axis (port of the router that gets it): the same
    const i32* interval;         // axis (port): slots from a packet to the next; one that is sent sooner queues
    const u8* dead;              // axes (node, port), or none
    const u8* odd;               // axis (node): whose slots begin first, or none
    const u8* several;           // axis (node): whether an input has two virtual channels or more
    const u8* hangs;             // axis (node): whether a switch chooses for it
    const i32 *drawn_nodes, *drawn_targets;  // axis (drawn): by which packets may go, and what they are routed to
    const u32* generators;       // axis (node): of pauses, after reset, or none
    const Rule* rule;
    Exchange exchange;  // of several ranks
    i64* parcels;       // axis (rank): before it, how many bytes are for each; behind it, where those from each stand

    i64 queues() const { return (ports + 1) << vc_bits; }
    i64 local() const { return ports << vc_bits; }
    i64 turns() const { return odd ? 2 : 1; }  // of a slot
    // The latest that a packet comes that is sent by a port: behind others for which there was room.
    i64 latest(i64 port) const {
        i64 before = 0;
        for (i64 way = port << vc_bits; way < (port + 1) << vc_bits; way++) before += room[way];
        return latency[port] + (interval[port] > 1 ? turns() * interval[port] * before : 0);
    }
    bool pauses() const { return gap || stall || hold; }
    i64 workers() const { return ranks * threads; }
    bool has_extra() const { return is_drawn() || pauses(); }
    bool is_drawn() const { return scheme == VALIANT || scheme == UGAL; }
    i64 adaptive_words() const { return 1 + (ports + 63) / 64; }
    i64 neighbor(i64 node, i64 port) const {
        return flips[port] ? node ^ flips[port] : neighbors[node * ports + port];
    }
};

}  // namespace hdnhw
