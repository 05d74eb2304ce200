// The rule: to which port and virtual channel a packet goes on, given packed addresses of a node and of a target.
#pragma once

#include "common.hpp"

namespace hdnhw {

constexpr int VC_SHIFT = 8;  // a decision is port | virtual channel << VC_SHIFT
constexpr i32 PORT_MASK = (1 << VC_SHIFT) - 1;

// One gate of a circuit, on registers of vectors.
struct Gate {
    enum Op : i32 { CONST, CUR, DST, AND, OR, NOT, EQ, LT, ADD, SUB, SUBMOD, ODD, MUX, SELECT, ATTACH };
    i32 op, to, a, b, c, value;  // CUR, DST: (address >> a) & value; SELECT: a ? value : b; ATTACH: a | b << value
};

// A rule as a program of gates, or as a table of decisions, axes (target, node), which are not copied.
class Rule {
   public:
    static constexpr int BATCH = 128;
    static constexpr i32 NARROW = 1 << 12;  // digits below it leave 16 bits room for sums of several

    Rule(const Gate* gates, i64 count, i64 registers, i64 result)
        : gates_(gates), count_(count), registers_(registers), result_(result) {
        for (i64 k = 0; k < count; k++) narrow_ &= gates[k].value < (gates[k].op == Gate::ATTACH ? 15 : NARROW);
    }
    Rule(const i32* table, i64 targets, i64 nodes, i32 arrived)
        : table_(table), targets_(targets), nodes_(nodes), arrived_(arrived) {}

    void decide(const i32* cur, const i32* dst, i64 count, i32* decisions) const;
    i32 decide(i32 cur, i32 dst) const {
        i32 decision;
        decide(&cur, &dst, 1, &decision);
        return decision;
    }

   private:
    template <class Value, int W>
    void run(const i32* cur, const i32* dst, int count, i32* decisions) const;

    const Gate* gates_ = nullptr;
    i64 count_ = 0, registers_ = 0, result_ = 0;
    bool narrow_ = true;  // whether registers are of 16 bits, not 32
    const i32* table_ = nullptr;
    i64 targets_ = 0, nodes_ = 0;
    i32 arrived_ = 0;
};

// By which way packets leave routers, given packed addresses as a rule is: port << vc_bits | virtual channel. Of a
// small network all are known, in one or two levels that fit into a cache; of a large one it is worth while to ask for
// many.
class Ways {
   public:
    Ways(const Rule& rule, int address_bits, int vc_bits, i64 ways);

    bool known() const { return bits_ > 0; }
    // Axes (from, to), if it has one level; bits of the latter.
    const u8* table() const { return whole_ && known() ? direct_.begin() : nullptr; }
    int bits() const { return bits_; }
    i32 operator()(i32 cur, i32 dst) const {
        const u64 own = static_cast<u32>(cur), target = static_cast<u32>(dst);
        if (whole_) return direct_[own << bits_ | target];
        if (!known()) return way_of(rule_.decide(cur, dst));
        const u64 piece = rows_[own << high_ | target >> low_];
        return pieces_[piece << low_ | (target & ((u64{1} << low_) - 1))];
    }
    void operator()(const i32* cur, const i32* dst, i64 count, i32* ways) const {
        rule_.decide(cur, dst, count, ways);
        for (i64 k = 0; k < count; k++) ways[k] = way_of(ways[k]);
    }

   private:
    i32 way_of(i32 decision) const { return ((decision & PORT_MASK) << vc_bits_) + (decision >> VC_SHIFT); }

    const Rule& rule_;
    bool whole_ = false;
    int bits_ = 0, vc_bits_, high_ = 0, low_ = 0;
    List<u8> direct_;
    List<u16> rows_, pieces_;
};

}  // namespace hdnhw
