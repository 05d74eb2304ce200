// Traffic: which messages each node creates, when, for whom and how long, by random numbers that are looked up.
//
// Number n of stream k of node s is a block of Philox4x32-10 (Salmon, Moraes, Dror and Shaw, Parallel random numbers:
// as easy as 1, 2, 3, SC11): key is the seed, the counter is (n, s, k). So the messages of a node depend neither on
// those of others nor on who draws them and when.
#pragma once

#include <algorithm>
#include <cmath>

#include "common.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace hdnhw {

enum Stream : u32 { MESSAGE, SIZE, PERIOD };
enum Target : i64 { TABLE, BLOCK, HOTSPOT, NEXT_GROUP, OTHER_CLASS, MATRIX };

// What is to be created, as hdnhw.core.traffic hands it over, which keeps the arrays.
struct Traffic {
    i64 nodes, senders, lengths, target;
    i64 size;                 // of a block or group; of the places of a class that follow each other
    i64 hots, phases;
    u64 key;
    double share;             // of all hotspots
    double peak;              // probability of a message in a cycle of a burst
    double on;                // of a burst in the first cycle
    double burst, silence;    // mean cycles of each; infinite for a burst that does not end
    const i32* sender;        // axis (sender): nodes, sorted
    const i32* table;         // axis (node): of a permutation
    const i32 *place, *at;    // axis (node), axis (place): where blocks are of consecutive places, or none
    const i64* flits;         // axis (length)
    const double* up_to;      // axis (length): share of this length and those before
    const i32* hot;           // axis (hotspot): nodes, sorted
    // Of a matrix:
    const i64* until;         // axis (phase): where each ends, in cycles of a period
    const i64* row;           // axis (phase, node), and one more: where the entries of each begin
    const i32* column;        // axis (entry): destinations
    const i64* length;        // axis (entry): flits, or none
    const double* within;     // axis (entry): share of this entry and those before, of what the busiest node sends
};

struct Block {
    u64 first, second;
};

inline Block random(u64 key, u64 number, u32 node, Stream stream) {
    u32 c0 = static_cast<u32>(number), c1 = static_cast<u32>(number >> 32), c2 = node, c3 = stream;
    u32 k0 = static_cast<u32>(key), k1 = static_cast<u32>(key >> 32);
    for (int round = 0; round < 10; round++) {
        const u64 one = u64{0xD2511F53} * c0, two = u64{0xCD9E8D57} * c2;
        c0 = static_cast<u32>(two >> 32) ^ c1 ^ k0;
        c1 = static_cast<u32>(two);
        c2 = static_cast<u32>(one >> 32) ^ c3 ^ k1;
        c3 = static_cast<u32>(one);
        k0 += 0x9E3779B9, k1 += 0xBB67AE85;
    }
    return {c0 | u64{c1} << 32, c2 | u64{c3} << 32};
}

// A number from 0 to count - 1, all as likely but for one in 2^64 / count.
inline i64 below(u64 word, i64 count) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<i64>(static_cast<Wide>(word) * static_cast<u64>(count) >> 64);
}
inline double unit(u64 word) { return static_cast<double>(word >> 11) * 0x1p-53; }  // from 0, below 1

// Failures before a success, by what failures_of makes of its probability.
inline i64 failures(u64 word, double scale) { return static_cast<i64>(std::log(1 - unit(word)) * scale); }
inline double scale_of(double probability) { return 1 / std::log1p(-probability); }

// Several at once: the same blocks and failures.
constexpr int AT_ONCE = 8;

inline void random_all(u64 key, const u64* number, const u64* node, Stream stream, u64* first, u64* second) {
#if defined(__AVX2__)
    using Words = u64 __attribute__((vector_size(32)));  // of which the lower halves count
    const auto product = [](Words word, u32 factor) {
        return reinterpret_cast<Words>(
            _mm256_mul_epu32(reinterpret_cast<__m256i>(word), _mm256_set1_epi64x(factor)));
    };
    Words c0[2], c1[2], c2[2], c3[2];
    for (int half = 0; half < 2; half++) {
        std::memcpy(&c0[half], number + 4 * half, sizeof(Words));
        std::memcpy(&c2[half], node + 4 * half, sizeof(Words));
        c1[half] = c0[half] >> 32, c3[half] = Words{} + static_cast<u64>(stream);
    }
    u32 k0 = static_cast<u32>(key), k1 = static_cast<u32>(key >> 32);
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9, k1 += 0xBB67AE85)
        for (int half = 0; half < 2; half++) {
            const Words one = product(c0[half], 0xD2511F53), two = product(c2[half], 0xCD9E8D57);
            c0[half] = two >> 32 ^ c1[half] ^ k0, c1[half] = two;
            c2[half] = one >> 32 ^ c3[half] ^ k1, c3[half] = one;
        }
    for (int half = 0; half < 2; half++) {
        const Words one = (c0[half] & ~u32{0}) | c1[half] << 32, two = (c2[half] & ~u32{0}) | c3[half] << 32;
        std::memcpy(first + 4 * half, &one, sizeof(Words));
        std::memcpy(second + 4 * half, &two, sizeof(Words));
    }
#else
    for (int k = 0; k < AT_ONCE; k++) {
        const Block block = random(key, number[k], static_cast<u32>(node[k]), stream);
        first[k] = block.first, second[k] = block.second;
    }
#endif
}

inline void failures_all(const u64* words, double scale, i64* found) {
#if defined(__AVX2__)
    using Words = u64 __attribute__((vector_size(32)));
    using Reals = double __attribute__((vector_size(32)));
    const double doubt = 1e-9 * std::abs(scale);  // more than what is computed here is off
    for (int begin = 0; begin < AT_ONCE; begin += 4) {
        Words word;
        std::memcpy(&word, words + begin, sizeof(Words));
        const Reals left = 2 - reinterpret_cast<Reals>(word >> 12 | u64{0x3FF} << 52);
        // The exponent, 64 more than it is, of a number between the square roots of 1/2 and 2.
        const Words bits = reinterpret_cast<Words>(left) + (u64{64} << 52);
        const Words exponent = (bits - u64{0x3FE6A09E667F3BCD}) >> 52;
        const Reals near = reinterpret_cast<Reals>(bits - (exponent << 52));
        const Reals power = reinterpret_cast<Reals>(exponent | u64{0x433} << 52) - (0x1p52 + 64);
        const Reals ratio = (near - 1) / (near + 1), square = ratio * ratio;
        Reals series = Reals{} + 2. / 11;
        for (int odd = 9; odd > 0; odd -= 2) series = series * square + 2. / odd;
        const Reals expected = (power * 0.6931471805599453 + ratio * series) * scale;
        for (int k = 0; k < 4; k++) {
            const i64 whole = static_cast<i64>(expected[k]);
            const double part = expected[k] - static_cast<double>(whole);
            const bool known = left[k] > 0x1p-20 && part > doubt && part < 1 - doubt;
            found[begin + k] = known ? whole : failures(words[begin + k], scale);
        }
    }
#else
    for (int k = 0; k < AT_ONCE; k++) found[k] = failures(words[k], scale);
#endif
}

// The entry of a node's row of a matrix that a number below 1 draws in a cycle, or -1: a node that sends less than the
// busiest one has no message then.
inline i64 entry_of(const Traffic& t, i64 node, i64 cycle, double drawn) {
    const i64 in_period = cycle % t.until[t.phases - 1];
    const i64 phase = std::upper_bound(t.until, t.until + t.phases, in_period) - t.until;
    const i64* const row = t.row + phase * t.nodes + node;
    const i64 place = std::upper_bound(t.within + row[0], t.within + row[1], drawn) - t.within;
    return place < row[1] ? place : -1;
}

// Where message `number` of a node goes, by the second word of its block; of a matrix, as if no node sent less than
// another one, in its first phase.
inline i64 destination_of(const Traffic& t, i64 node, u64 number, u64 word) {
    if (t.target == TABLE) return t.table[node];
    if (t.target == MATRIX) {
        const i64 last = t.row[node + 1] - 1, entry = entry_of(t, node, 0, unit(word) * t.within[last]);
        return t.column[entry < 0 ? last : entry];  // what is rounded up stays in the row
    }
    const u32 size = static_cast<u32>(t.size), own = static_cast<u32>(t.place ? t.place[node] : node);
    i64 place;
    if (t.target == NEXT_GROUP) {
        place = (own / size + 1) * t.size % t.nodes + below(word, size);
    } else if (t.target == OTHER_CLASS) {
        const i64 drawn = below(word, t.nodes / 2), other = 1 - own / size % 2;
        place = (drawn / size * 2 + other) * size + drawn % size;
    } else {
        if (t.target == HOTSPOT && !std::binary_search(t.hot, t.hot + t.hots, node)) {
            const double drawn = unit(random(t.key, number, static_cast<u32>(node), SIZE).second);
            if (drawn < t.share)
                return t.hot[std::min(static_cast<i64>(drawn / t.share * static_cast<double>(t.hots)), t.hots - 1)];
        }
        const u32 inner = own % size;
        const i64 drawn = below(word, size - 1);
        place = own - inner + drawn + (drawn >= inner);
    }
    return t.at ? t.at[place] : place;
}

struct Message {
    i64 cycle, source, destination, flits;
};

// The messages of some senders in the order of time, each of which knows its next one. Bursts and silences take turns;
// messages come at random in the cycles of bursts, which have numbers of their own, without those of silences.
class Creation {
   public:
    // For the senders from one number to another.
    void make(const Traffic& traffic, i64 first, i64 last) {
        t_ = &traffic, sender_ = traffic.sender + first;
        senders_.resize(last - first);
        bursts_.resize(std::isinf(traffic.burst) ? 0 : last - first);
        gap_ = scale_of(traffic.peak);
        burst_ = scale_of(1 / traffic.burst);
        silence_ = scale_of(1 / (1 + traffic.silence));
        for (i64 k = 0; k < last - first; k++) begin(k);
    }

    // Give those that are created before cycle `stop`, sender after sender.
    template <class Do>
    void before(i64 stop, Do&& give) {
        for (i64 k = 0; k < static_cast<i64>(senders_.size()); k++)
            for (const Sender& sender = senders_[k]; sender.next < stop; advance(k)) create(sender, sender_[k], give);
    }

    // The same, but one of each sender, then the next of those that have more: what they draw is drawn together.
    template <class Do>
    void in_turns(i64 stop, Do&& give) {
        std::size_t due = 0;
        due_.resize(senders_.size());
        for (std::size_t k = 0; k < senders_.size(); k++) {
            due_[due] = static_cast<i64>(k);
            due += senders_[k].next < stop;
        }
        due_.resize(due);
        while (due_.size()) {
            std::size_t more = 0;
            for (std::size_t begin = 0; begin < due_.size(); begin += AT_ONCE) {
                const std::size_t count = std::min<std::size_t>(AT_ONCE, due_.size() - begin);
                u64 number[AT_ONCE]{}, node[AT_ONCE]{}, first[AT_ONCE], second[AT_ONCE];
                i64 gap[AT_ONCE]{};
                for (std::size_t j = 0; j < count; j++) {
                    const Sender& sender = senders_[due_[begin + j]];
                    node[j] = static_cast<u64>(sender_[due_[begin + j]]);
                    number[j] = sender.number + 1;
                    create(sender, static_cast<i64>(node[j]), give);
                }
                random_all(t_->key, number, node, MESSAGE, first, second);
                if (t_->peak < 1) failures_all(first, gap_, gap);
                for (std::size_t j = 0; j < count; j++) {
                    const i64 k = due_[begin + j];
                    go_on(k, 1 + gap[j], second[j]);
                    due_[more] = k;
                    more += senders_[k].next < stop;
                }
            }
            due_.resize(more);
        }
    }

   private:
    struct Sender {
        i64 next;          // cycle of the next message
        u64 number, word;  // of it, and the second word of its block
    };
    struct Bursts {
        i64 end, shift;  // of the burst, in cycles of bursts; how many cycles of silences were before
        u64 period;
    };

    template <class Do>
    void create(const Sender& sender, i64 node, Do&& give) const {
        if (t_->target != MATRIX) {
            give(Message{sender.next, node, destination_of(*t_, node, sender.number, sender.word),
                         flits_of(node, sender.number)});
        } else if (const i64 entry = entry_of(*t_, node, sender.next, unit(sender.word)); entry >= 0) {
            const i64 flits = t_->length ? t_->length[entry] : flits_of(node, sender.number);
            give(Message{sender.next, node, t_->column[entry], flits});
        }
    }
    void begin(i64 k) {
        senders_[k] = {-1, ~u64{0}, 0};
        if (bursts_.size()) {
            const Block block = period(k, 0);
            const bool is_on = unit(block.second) < t_->on;
            bursts_[k] = {is_on ? 1 + failures(block.first, burst_) : 0, 0, 0};
            if (!is_on) {
                bursts_[k].period = ~u64{0};
                start_burst(k, 1);
            }
            senders_[k].next += bursts_[k].shift;
        }
        advance(k);
    }
    void advance(i64 k) {
        const Block block = random(t_->key, senders_[k].number + 1, static_cast<u32>(sender_[k]), MESSAGE);
        go_on(k, 1 + (t_->peak < 1 ? failures(block.first, gap_) : 0), block.second);
    }
    // Let a sender have its next message, so many cycles of bursts later.
    void go_on(i64 k, i64 gap, u64 word) {
        Sender& sender = senders_[k];
        sender.number++;
        sender.word = word;
        if (!(t_->peak > 0)) {
            sender.next = INT64_MAX;
        } else if (!bursts_.size()) {
            sender.next += gap;
        } else {
            const i64 next = sender.next - bursts_[k].shift + gap;
            while (next >= bursts_[k].end) start_burst(k, 0);
            sender.next = next + bursts_[k].shift;
        }
    }
    // Let a silence pass, of a cycle at least if one is under way, and the next burst begin.
    void start_burst(i64 k, i64 least) {
        Bursts& bursts = bursts_[k];
        bursts.shift += least + failures(period(k, ++bursts.period).first, silence_);
        bursts.end += 1 + failures(period(k, ++bursts.period).first, burst_);
    }
    Block period(i64 k, u64 number) const { return random(t_->key, number, static_cast<u32>(sender_[k]), PERIOD); }
    i64 flits_of(i64 node, u64 number) const {
        if (t_->lengths == 1) return t_->flits[0];
        const double drawn = unit(random(t_->key, number, static_cast<u32>(node), SIZE).first);
        i64 low = 0, high = t_->lengths - 1;
        while (low < high) {
            const i64 middle = (low + high) / 2;
            if (drawn < t_->up_to[middle]) high = middle;
            else low = middle + 1;
        }
        return t_->flits[low];
    }

    const Traffic* t_ = nullptr;
    const i32* sender_ = nullptr;  // axis (sender): nodes
    List<Sender> senders_;
    List<Bursts> bursts_;
    List<i64> due_;
    double gap_ = 0, burst_ = 0, silence_ = 0;
};

}  // namespace hdnhw
