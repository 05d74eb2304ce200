// A fabric and its terminals in the course of a run, and the threads that share its parts.
#pragma once

#include <atomic>

#include "ledger.hpp"
#include "small.hpp"

namespace hdnhw {

// A packet on a channel, and where it comes in.
struct Item {
    Packet packet;
    u16 node, queue;  // of the part
};

// A credit on its way to a router.
struct Credit {
    u16 node, way;
};

// What goes from parts to parts, from one slot to a later one. A channel carries one item a slot at most, and there is
// room for it. What a worker, a thread of a rank, sends to a part stands together, and no other one writes there.
template <class T>
class Mail {
   public:
    // For items that come `latest` slots later at most: by then those of this slot have been read.
    void make(const List<u64>& first, u64 room, i64 latest, i64 boxes) {
        const i64 slots = latest + 1;
        slots_ = static_cast<u32>(slots), boxes_ = boxes;
        memory_.make(static_cast<u64>(slots) * room * sizeof(T));
        begins_.resize(slots * boxes);
        for (i64 slot = 0; slot < slots; slot++)
            for (i64 box = 0; box < boxes; box++)
                begins_[slot * boxes + box] = memory_.template as<T>() + slot * room + first[box];
        ends_.resize(slots * boxes);
        std::memcpy(ends_.begin(), begins_.begin(), begins_.size() * sizeof(T*));
    }
    i64 slots() const { return slots_; }
    // The items that come in a slot, from a worker for a part: in the box worker * parts + part.
    T* begin(i64 slot, i64 box) { return begins_[place(slot, box)]; }
    T*& end(i64 slot, i64 box) { return ends_[place(slot, box)]; }
    T** ends(i64 slot, i64 box) { return &end(slot, box); }
    u32 length(i64 slot, i64 box) { return static_cast<u32>(end(slot, box) - begin(slot, box)); }

   private:
    i64 place(i64 slot, i64 box) const { return static_cast<u32>(slot) % slots_ * boxes_ + box; }
    Pages memory_;
    List<T*> begins_, ends_;
    u32 slots_ = 1;
    i64 boxes_ = 0;
};

// What a snapshot says of a packet that has not left.
enum Where : i32 { WAITING, QUEUED, CROSSING, LEAVING, LOST };
struct Found {
    i32 destination, created, head, tag, hops, where, node, queue, way, place, by;
};

// What is counted, axes (node, channel, virtual channel), (node, channel), and (node, queue) thrice. Channels are
// those of the outputs, ejection the last, then injection. Held is the sum of the slots in which packets were there
// when it was allocated, less the number of the first one for each packet that still is; most, that of packets there.
struct Counters {
    List<i64> sent, stalled, held, level, most;
};

// What a worker alone writes.
struct alignas(128) Progress {
    i64 ended = 0;  // the cycle behind the last in which a packet left or was dropped
    i64 offered = 0, sent = 0, lost = 0, left = 0;
};

class Fabric {
   public:
    virtual ~Fabric() = default;
    // Let sources get the messages of a load, which count cycles from `first`, and enter it all in a ledger.
    virtual void load(const Traffic* traffic, i64 first, Ledger* ledger) = 0;
    virtual void advance(const i64* cycle, const i32* node, const i32* destination, const i32* tag, const i32* pace,
                         i64 count, i64 packets, i64 limit) = 0;
    virtual i64 rows(i32* out) = 0;              // axes (word, packet): of the last call; or how many there are
    virtual i64 found(i32* out) = 0;             // of packets that have not left, or how many there are
    virtual i64 waiting(i32* out) = 0;           // of heads that wait for a buffer of a router, or how many there are
    virtual bool farthest(i32* out) = 0;         // of the first that has crossed most channels; none if all are dropped
    virtual void credits(i32* out, bool coming) = 0;  // axes (node, way); those that are on their way, too
    virtual void set_credits(const i32* credits) = 0;
    virtual void put(i64 node, i32 queue, i32 way, i32 tag) = 0;         // a packet into a queue of a router
    virtual void step(i64 node, i64 slot, bool starts_epoch) = 0;        // a router by itself: what it sends is gone
    // Cycle, slot, ended, sent, lost, left, offered, whether a router holds a packet.
    virtual void numbers(i64* out) = 0;
    virtual void sources(i64* dropped, i32* sending, i32* position) = 0;
    virtual void sinks(i64* tag, i64* taken) = 0;
    virtual void counts(i64* sent, i64* stalled, i64* held, i64* most) = 0;
};

}  // namespace hdnhw
