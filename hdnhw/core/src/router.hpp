// Routers: the record that each has, its queues, and the orders in which it serves.
#pragma once

#include <algorithm>

#include "part.hpp"

namespace hdnhw {

// Routers whose inputs have one virtual channel each, first in, first out: a line of the cache for 26 queues.
struct Plain {
    using Word = char8_t;  // which, other than a char, is no alias of everything
    static constexpr bool general = false, small = false;
};
// All others.
struct General {
    using Word = u16;
    static constexpr bool general = true, small = false;
};

// Where things stand in the record of a router: the first of its heads, then rows of words. A row of an order tells
// when each of its members was served last: EPOCH + slot % EPOCH, or if it was before this epoch, how many of the row
// were served before it. Before the first slot all count as served in the order of their numbers.
template <class K>
class Records {
   public:
    using Word = typename K::Word;
    static constexpr u32 EPOCH = u32{1} << (8 * sizeof(Word) - 1);  // slots

    struct Router {
        u64 present;  // a bit for each queue modulo 64 that holds a packet
        u32 first;    // of its heads
    };

    void make(const Machine& machine) {
        queues_ = static_cast<u32>(machine.queues());
        inputs_ = static_cast<u32>(machine.ports + 1);
        const bool matched = machine.rounds > 0, ordered = K::general && (matched || machine.vc_bits);
        u64 words = sizeof(Router) / sizeof(Word);
        const auto row = [&](u64 length) {
            const u64 begin = words;
            words += length;
            return static_cast<u32>(begin);
        };
        if constexpr (!K::general) words = 12;  // the padding of the router is room, too
        credits_ = row(queues_);
        sent_ = row(queues_);
        by_way_ = row(ordered ? queues_ : 0);
        row_ = matched ? queues_ : inputs_;
        by_input_ = row(ordered ? static_cast<u64>(queues_) * row_ : 0);
        by_output_ = row(matched ? static_cast<u64>(inputs_) * inputs_ : 0);
        matched_ = matched, ordered_ = ordered;
        const u64 bytes = words * sizeof(Word);
        stride_ = 16;
        while (stride_ < bytes && stride_ < 64) stride_ *= 2;
        if (stride_ < bytes) stride_ = (bytes + 63) / 64 * 64;
        memory_.make(static_cast<u64>(machine.nodes) * stride_);
    }
    // Let the routers of some nodes be as after reset; those of others take no memory.
    void reset(const Machine& machine, i64 begin, i64 end) {
        for (i64 node = begin; node < end; node++) {
            Router& router = (*this)[node];
            router.first = NONE;
            for (u32 way = 0; way < queues_; way++) credits(router)[way] = static_cast<Word>(machine.room[way]);
            for_rows(router, [](Word* members, u32 length) {
                for (u32 k = 0; k < length; k++) members[k] = static_cast<Word>(k);
            });
        }
    }

    u64 stride() const { return stride_; }
    Router& operator[](i64 node) { return *reinterpret_cast<Router*>(memory_.template as<u8>() + node * stride_); }
    Word* credits(Router& router) const { return words(router) + credits_; }                  // axis (way)
    Word* sent(Router& router) const { return words(router) + sent_; }                        // axis (queue)
    Word* by_way(Router& router) const { return words(router) + by_way_; }                    // axis (way)
    Word* by_input(Router& router, u32 way) const {  // axis (input), with matching (queue)
        return words(router) + by_input_ + static_cast<u64>(way) * row_;
    }
    Word* by_output(Router& router, u32 input) const {  // axis (output)
        return words(router) + by_output_ + static_cast<u64>(input) * inputs_;
    }
    // Tell of each queue that holds a packet, and of its head.
    template <class Do>
    void each(const Router& router, const Link* links, Do&& act) const {
        for (u32 head = router.first; head != NONE; head = links[head].next) act(links[head].queue, head);
    }
    // Put a packet at the end of a queue.
    void push(Link* links, Router& router, u32 entry, u16 queue, u16 way) const {
        Link& link = links[entry];
        link.way = way;
        link.behind = NONE;
        const u64 bit = u64{1} << (queue & 63);
        if (router.present & bit)
            for (u32 head = router.first; head != NONE; head = links[head].next)
                if (links[head].queue == queue) {
                    links[links[head].tail].behind = entry;
                    links[head].tail = entry;
                    return;
                }
        router.present |= bit;
        link.queue = queue;
        link.tail = entry;
        link.next = router.first;
        router.first = entry;
    }
    static Word stamp(i64 slot) { return static_cast<Word>(EPOCH | (slot & (EPOCH - 1))); }

    // Let what a router has served have been served before an epoch that begins: in the same order.
    void start_epoch(Router& router) const {
        for_rows(router, [](Word* members, u32 length) {
            if (!std::any_of(members, members + length, [](Word word) { return word >= EPOCH; })) return;
            thread_local List<Word> old;
            old.resize(length);
            std::copy(members, members + length, old.begin());
            for (u32 k = 0; k < length; k++) {
                u32 before = 0;
                for (u32 other = 0; other < length; other++) before += old[other] < old[k];
                members[k] = static_cast<Word>(before);
            }
        });
    }

   private:
    Word* words(Router& router) const { return reinterpret_cast<Word*>(&router); }
    template <class Do>
    void for_rows(Router& router, Do&& act) const {
        act(sent(router), queues_);
        if (!ordered_) return;
        act(by_way(router), queues_);
        for (u32 way = 0; way < queues_; way++) act(by_input(router, way), row_);
        for (u32 input = 0; matched_ && input < inputs_; input++) act(by_output(router, input), inputs_);
    }
    Pages memory_;
    u32 queues_ = 0, inputs_ = 0, row_ = 0, credits_ = 0, sent_ = 0, by_way_ = 0, by_input_ = 0, by_output_ = 0;
    u64 stride_ = 0;
    bool matched_ = false, ordered_ = false;
};

// Take the head to which `where` points out of its queue; the packet behind it stands in its place then.
inline u32* take_head(Link* links, u32* where) {
    const Link& link = links[*where];
    if (link.behind == NONE) {
        *where = link.next;
        return where;
    }
    Link& following = links[link.behind];
    following.next = link.next;
    following.tail = link.tail;
    following.queue = link.queue;
    *where = link.behind;
    return &following.next;
}

}  // namespace hdnhw
