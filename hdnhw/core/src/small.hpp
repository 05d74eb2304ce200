// Routers of up to eight inputs with one or two virtual channels each, in a network that is one part: masks of queues,
// and orders of service as matrices of bits, so that most of what is chosen is without a branch.
#pragma once

#include "router.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace hdnhw {

using Bytes = u8 __attribute__((vector_size(16)));

// A bit for each byte that is 255, of those that are that or 0.
inline u32 bits_of(Bytes truths) {
#if defined(__SSE2__)
    return static_cast<u32>(_mm_movemask_epi8(reinterpret_cast<__m128i>(truths)));
#else
    u32 bits = 0;
    for (int k = 0; k < 16; k++) bits |= (truths[k] & 1u) << k;
    return bits;
#endif
}
// The bytes of a table at some places below 16.
inline Bytes look_up(Bytes table, Bytes places) {
#if defined(__SSSE3__)
    return reinterpret_cast<Bytes>(
        _mm_shuffle_epi8(reinterpret_cast<__m128i>(table), reinterpret_cast<__m128i>(places)));
#else
    Bytes found;
    for (int k = 0; k < 16; k++) found[k] = table[places[k]];
    return found;
#endif
}

template <int VC_BITS>
struct Small {
    using Word = char8_t;
    static constexpr bool general = VC_BITS > 0, small = true;
    static constexpr u32 INJECTION = 16;  // behind all ways: the place of the credits of a source
};

// The record of a router has a row for each queue and way. Two virtual channels are a pair of bits.
template <int VC_BITS>
class Records<Small<VC_BITS>> {
   public:
    using K = Small<VC_BITS>;
    using Word = typename K::Word;
    static constexpr u32 EPOCH = u32{1} << 30;  // after which nothing is to be done
    static constexpr u32 EVEN = 0x55555555;
    static constexpr u64 EACH = 0x0101010101010101;

    struct Row {
        u64 order;                    // of a way: byte i is the inputs that were served before input i
        u32 head, tail;               // of a queue that holds a packet
        u16 node, mirror;             // of a way: the queue at its end; of a queue: the way to it, or INJECTION
        u16 latency, credit_latency;  // from there; to there, 0 to a source
    };
    struct Router {
        u16 present;       // queues that hold a packet
        u16 orders;        // the bits of a way's number that tell where its order is: none where all ways have one
        u32 later;         // of two queues or, 16 bits on, ways: the one that had its turn last
        Word credits[24];  // axis (way), then those of the source
        Word way[16];      // axis (queue): of its head
    };

    void make(const Machine& machine) {
        stride_ = sizeof(Router) + static_cast<u64>(machine.queues()) * sizeof(Row);
        memory_.make(static_cast<u64>(machine.nodes) * stride_);
    }
    void reset(const Machine& machine, i64 begin, i64 end) {
        for (i64 node = begin; node < end; node++) {
            Router& router = (*this)[node];
            router.later = ~EVEN;
            router.credits[K::INJECTION] = static_cast<Word>(machine.injection_buffers);
            router.orders = machine.several[node] ? 0xFF : 0;
            for (i64 way = 0; way < machine.queues(); way++) {
                const i64 port = way >> VC_BITS;
                Row& row = rows(router)[way];
                router.credits[way] = static_cast<Word>(machine.room[way]);
                row.node = static_cast<u16>(node), row.mirror = K::INJECTION;
                if (port == machine.ports) continue;
                const i64 back = machine.credit_latency[machine.mirror[way] >> VC_BITS];
                row.node = static_cast<u16>(machine.neighbor(node, port));
                row.mirror = static_cast<u16>(machine.mirror[way]);
                row.latency = static_cast<u16>(machine.latency[port]);
                row.credit_latency = static_cast<u16>(back);
            }
        }
    }
    u64 stride() const { return stride_; }
    Router& operator[](i64 node) {
        return *reinterpret_cast<Router*>(memory_.template as<u8>() + static_cast<u64>(node) * stride_);
    }
    static Row* rows(Router& router) { return reinterpret_cast<Row*>(&router + 1); }
    static Word* credits(Router& router) { return router.credits; }
    void start_epoch(Router&) const {}
    static Word stamp(i64) { return 0; }

    template <class Do>
    void each(Router& router, const Link*, Do&& act) const {
        for (u32 bits = router.present; bits; bits &= bits - 1) {
            const u32 queue = static_cast<u32>(lowest(bits));
            act(queue, rows(router)[queue].head);
        }
    }
    void push(Link* links, Router& router, u32 entry, u32 queue, u32 way) const {
        Row& row = rows(router)[queue];
        const bool waits = router.present >> queue & 1;
        links[entry].way = static_cast<u16>(way);
        links[entry].behind = NONE;
        *(waits ? &links[row.tail].behind : &row.head) = entry;
        row.tail = entry;
        router.way[queue] = waits ? router.way[queue] : static_cast<Word>(way);
        router.present = static_cast<u16>(router.present | 1 << queue);
    }

    // What a router may send in a slot.
    class Choice {
       public:
        Choice(Router& router, bool by_class) : router_(router), by_class_(by_class) {
            Bytes credits;
            std::memcpy(&credits, router.credits, sizeof credits);
            std::memcpy(&ways_, router.way, sizeof ways_);
            ready_ = router.present & ~bits_of(reinterpret_cast<Bytes>(look_up(credits, ways_) == 0));
            outputs_ = VC_BITS ? ways_ | 1 : ways_;
        }
        u32 ready() const { return ready_; }  // queues whose heads may be sent as far as credits go
        // Of queues that are ready those that their inputs offer: of two the one that sent longest ago.
        u32 offered(u32 queues) const {
            if constexpr (VC_BITS == 0) return queues;
            const u32 both = queues & queues >> 1 & EVEN;
            return queues & ~(3 * both & router_.later);
        }
        // Take those that want one output out of the offers; return which of them may send.
        u32 next(u32& offers) const {
            const u32 queue = static_cast<u32>(lowest(offers)), output = router_.way[queue] | u32{VC_BITS};
            const u32 rivals = offers & bits_of(reinterpret_cast<Bytes>(outputs_ == static_cast<u8>(output)));
            if (rivals & (rivals - 1)) [[unlikely]] {
                offers &= ~rivals;
                return first(rivals);
            }
            offers &= offers - 1;  // known before its rivals are
            return queue;
        }

       private:
        // Of several: of the higher way, or of the one served longest ago, the input that was, the lowest of equal ones.
        u32 first(u32 rivals) const {
            u32 way = router_.way[lowest(rivals)];
            if (VC_BITS && router_.orders) {
                const u32 high = rivals & bits_of(reinterpret_cast<Bytes>((ways_ & 1) != 0));
                way |= 1;
                const bool is_low = high == 0 || (high != rivals && !by_class_ && router_.later >> (16 + way) & 1);
                rivals = is_low ? rivals & ~high : high;
                way -= is_low;
            }
            const u32 inputs = inputs_of(rivals);
            const u64 before = rows(router_)[way & router_.orders].order & inputs * EACH;
            const Bytes none = reinterpret_cast<Bytes>(Words{before, 0});
            const u32 input = static_cast<u32>(lowest(inputs & bits_of(reinterpret_cast<Bytes>(none == 0))));
            return VC_BITS ? 2 * input + (rivals >> (2 * input + 1) & 1) : input;
        }
        using Words = u64 __attribute__((vector_size(16)));
        Router& router_;
        const bool by_class_;
        Bytes ways_, outputs_;
        u32 ready_;
    };

    // Take the head out of a queue, whose way was taken by it: it goes to the end in all orders.
    static u32 pop(const Link* links, Router& router, u32 queue, u32 way) {
        Row& row = rows(router)[queue];
        const u32 entry = row.head, next = links[entry].behind;
        const bool last = next == NONE;
        row.head = next;
        router.way[queue] = static_cast<Word>(links[last ? entry : next].way);
        router.present = static_cast<u16>(router.present & ~(last << queue));
        router.credits[way]--;
        if (VC_BITS && router.orders) {
            u64& order = rows(router)[way].order;
            const u32 input = queue >> VC_BITS;
            order = (order & ~(EACH << input)) | (u64{0xFF} ^ u64{1} << input) << 8 * input;
        }
        if (VC_BITS) {
            const u32 pairs = 3u << (queue & ~1u) | 3u << (16 + (way & ~1u));
            router.later = (router.later & ~pairs) | 1u << queue | 1u << (16 + way);
        }
        return entry;
    }
    // The same for an order of all ways, of those that were served in a slot.
    static void serve(Router& router, u32 queues) {
        if (!VC_BITS || !router.orders) serve(rows(router)[0].order, inputs_of(queues));
    }

   private:
    // Let some inputs, of which none comes before another, come after all others.
    static void serve(u64& order, u32 inputs) {
        const u64 served = inputs * EACH, low = 0x7F * EACH;
        const u64 own = served & 0x8040201008040201, rows = (((own & low) + low) | own) & ~low;
        const u64 whole = (rows >> 7) * 0xFF;
        order = (order & ~served & ~whole) | (whole & ~served);
    }
    static u32 inputs_of(u32 queues) {
        if constexpr (VC_BITS == 0) return queues;
        queues = (queues | queues >> 1) & 0x5555;
        queues = (queues | queues >> 1) & 0x3333;
        queues = (queues | queues >> 2) & 0x0F0F;
        return (queues | queues >> 4) & 0x00FF;
    }
    Pages memory_;
    u64 stride_ = 0;
};

}  // namespace hdnhw
