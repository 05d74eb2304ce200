// A part of the nodes, which lies in a cache: its packets, its routers and its terminals.
#pragma once

#include "machine.hpp"
#include "traffic.hpp"

namespace hdnhw {

constexpr std::size_t AHEAD = 16;  // items before its turn an item's memory is asked for

struct Packet {
    i32 destination, created, head, tag;  // destination -1 if impossible, head -1 before it is accepted
    u32 hops;
};

// Where a packet stands that waits in a router. Of the packets of a queue the first is one of the router's heads, the
// others are behind it.
struct Link {
    u32 next;    // head, or packet of a source
    u32 behind;  // packet of the queue
    u32 tail;    // of the queue, at its head alone
    u16 queue;   // at the head alone
    u16 way;
};

enum Pace : i32 { ANYWHERE, AT_HOME, NOWHERE };  // where a sink may pause before a packet
enum By : i32 { STRAIGHT = -(1 << 30) * 2, UNDECIDED = 1 << 30 };

// Of a packet, where the machine asks for it: by which of the drawn nodes it goes, ~ that if it has been there.
struct Extra {
    i32 by, pace;
};

// The packets of a part, by numbers of entries that are used again.
class Entries {
   public:
    void begin(std::size_t expected, bool has_extra, bool has_came, i64 words) {
        expected_ = expected, has_extra_ = has_extra, has_came_ = has_came, words_ = words;
    }
    u32 take() {
        if (!free_.size()) grow();
        return free_.pop();
    }
    void give(u32 entry) { free_.push(entry); }
    void ask_ahead() const {
        if (free_.size() <= AHEAD) return;
        const u32 entry = free_[free_.size() - AHEAD];
        ask(&packets[entry]);
        ask(&links[entry]);
    }

    List<Link> links;
    List<Packet> packets;
    List<Extra> extras;
    List<u32> came;    // with early matching: the slot for whose end it could first be granted
    List<i64> nearer;  // with adaptive routing: ~way of the rule until the rest is known; ports that lead nearer

   private:
    void grow() {
        const std::size_t old = links.size(), size = old ? old + old / 2 : expected_;
        links.resize(size);
        packets.resize(size);
        if (has_extra_) extras.resize(size);
        if (has_came_) came.resize(size);
        nearer.resize(size * words_);
        for (std::size_t entry = size; entry-- > old;) give(static_cast<u32>(entry));
    }
    List<u32> free_;
    std::size_t expected_ = 0;
    bool has_extra_ = false, has_came_ = false;
    i64 words_ = 0;
};

// A set of nodes of a part.
class Nodes {
   public:
    void make(i64 size) { words_.assign((size + 63) / 64, 0); }
    void add(u32 node) { words_[node >> 6] |= u64{1} << (node & 63); }
    void drop(u32 node) { words_[node >> 6] &= ~(u64{1} << (node & 63)); }
    bool any() const {
        for (u64 word : words_)
            if (word) return true;
        return false;
    }
    // Keep those for which something is true.
    template <class Do>
    __attribute__((always_inline)) void keep(Do&& act) {
        for (std::size_t word = 0; word < words_.size(); word++) {
            u64 kept = 0;
            for (u64 bits = words_[word]; bits; bits &= bits - 1) {
                const int node = lowest(bits);
                kept |= u64{act(static_cast<u32>(word << 6) + static_cast<u32>(node))} << node;
            }
            words_[word] = kept;
        }
    }
    template <class Do>
    void each(Do&& act) {  // may drop the node that it is at
        for (std::size_t word = 0; word < words_.size(); word++)
            for (u64 bits = words_[word]; bits; bits &= bits - 1) act(static_cast<u32>(word << 6) + lowest(bits));
    }

   private:
    List<u64> words_;
};

struct Source {
    u32 first, last;  // of the packets that it has to send
    i32 occupied;     // packet buffers of injection in use; of a small router, its record knows that
    u16 position;     // flits accepted of the first; of gapless packets, 1 while one comes in
    u8 offering;      // a flit is on offer
};

struct Sink {
    u32 first, level, taken;  // place of the first packet, packets, flits taken of the first
};

// A packet on a channel within a part, and where it comes in.
struct Moving {
    u32 entry;
    u16 node, queue;
};

struct Arrival {
    i32 destination, created, tag, pace;
    u32 node;  // of the part
};

// A message of the load.
struct Created {
    i32 cycle, destination;
    u32 node, flits;         // the former of the part
};

struct Part {
    i64 number, begin, size;  // nodes
    Entries entries;
    Nodes busy, sending;              // routers that hold a packet, sources that have one to send
    List<u16> freed;                  // injection buffers that have lost a packet in the slot
    List<Moving>* moving = nullptr;   // ring of slots in which they come in, then those ejected in this slot
    List<u16>* ejected = nullptr;     // ring of ejection_slots: credits on their way back
    List<Source> sources;
    List<Sink> sinks;                 // with pauses
    List<u32> stored;                 // of sinks: entries
    List<i64> ready;                  // of sinks: the cycle from which the head flit can be taken
    List<u32> generators;
    List<u32> leaving, leaving_node;  // with pauses: entries ejected in the slot
    List<Arrival> arrivals;
    std::size_t offered = 0;          // of them
    Creation creation;                // of the load
    List<Created> created;            // in the order of time
    std::size_t begun = 0;            // how many of them sources have
    i64 known = INT64_MAX;            // the cycle up to which the load is drawn
    List<Packet> lost;                // dropped, as a record
    List<u16> lost_node;

    ~Part() {
        delete[] moving;
        delete[] ejected;
    }
    Part() = default;
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
};

}  // namespace hdnhw
