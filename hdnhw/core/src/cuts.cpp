// Cuts of a network into halves, improved by swapping or moving nodes.
#include <limits>
#include <vector>

#include "table.hpp"

using namespace hdnhw;

namespace {

constexpr u8 LOCKED = 2;

// What a cut has less if a node moves to the other side, and the side of each node that may.
struct Gains {
    const Table table;
    u8* const inside;
    std::vector<i32> gain;
    std::vector<u8> side;

    Gains(const Table& table, u8* inside)
        : table(table), inside(inside), gain(table.nodes), side(inside, inside + table.nodes) {
        for (i64 node = 0; node < table.nodes; node++)
            for (const i32 other : table[node])
                if (other >= 0) gain[node] += inside[other] != inside[node] ? 1 : -1;
    }
    void move(i64 node) {
        inside[node] ^= 1;
        if (side[node] != LOCKED) side[node] ^= 1;
        gain[node] = -gain[node];
        for (const i32 other : table[node])
            if (other >= 0) gain[other] += inside[other] == inside[node] ? -2 : 2;
    }
    // Return the node of one half, which has one, that gains most by moving; of equal ones the first.
    i64 pick(u8 half) const {
        i32 most = std::numeric_limits<i32>::min();
        for (i64 node = 0; node < table.nodes; node++)
            most = std::max(most, side[node] == half ? gain[node] : std::numeric_limits<i32>::min());
        i64 node = 0;
        while (side[node] != half || gain[node] != most) node++;
        return node;
    }
};

constexpr i64 floor_of(i64 a, i64 b) { return a / b - (a % b < 0); }  // b is positive

// The terminals in each node of a core, and those of them that are leaves.
struct Core {
    const i64 *weight, *leaves;
    i64 lacking;  // what a terminal on the wrong side costs that is no leaf
};

// The terminals on either side of a cut, and the leaves.
struct Sides {
    i64 here = 0, there = 0, here_leaves = 0, there_leaves = 0;

    Sides(const Core& core, const u8* inside, i64 nodes) {
        for (i64 node = 0; node < nodes; node++) {
            (inside[node] ? here : there) += core.weight[node];
            (inside[node] ? here_leaves : there_leaves) += core.leaves[node];
        }
    }
    void move(const Core& core, i64 node, i64 sign) {
        here += sign * core.weight[node];
        there -= sign * core.weight[node];
        here_leaves += sign * core.leaves[node];
        there_leaves -= sign * core.leaves[node];
    }
    // What balance costs: a link for each leaf on the wrong side, and much for any other terminal.
    i64 wrong(const Core& core) const {
        const i64 wrong = (here + there) / 2 - std::min(here, there);
        return wrong + core.lacking * std::max(i64{0}, wrong - (here > there ? here_leaves : there_leaves));
    }
};

// Balance a cut, then swap nodes pair by pair, each once, as far as it pays; return by how much it did.
i64 swap_once(const Table& table, u8* inside, i64 patience) {
    const i64 nodes = table.nodes;
    Gains gains(table, inside);
    i64 surplus = 2 * std::count(inside, inside + nodes, 1) - nodes;
    for (; std::abs(surplus) > 1; surplus += surplus > 0 ? -2 : 2) gains.move(gains.pick(surplus > 0));
    std::vector<i64> moved;
    i64 total = 0, best = 0, kept = 0;
    for (i64 swaps = 0; swaps < nodes / 2 && swaps < kept + patience;) {
        for (const u8 half : {1, 0}) {
            const i64 node = gains.pick(half);
            gains.side[node] = LOCKED;
            total += gains.gain[node];
            moved.push_back(node);
            gains.move(node);
        }
        swaps++;
        if (total > best) best = total, kept = swaps;
    }
    for (std::size_t place = 2 * kept; place < moved.size(); place++) inside[moved[place]] ^= 1;
    return best;
}

// Move each node to the other side once, what gains most first, as far as it pays; return by how much it did.
i64 shift_once(const Table& table, const Core& core, u8* inside) {
    const i64 nodes = table.nodes;
    Gains gains(table, inside);
    Sides sides(core, inside, nodes);
    std::vector<i64> moved;
    i64 total = 0, best = 0;
    std::size_t kept = 0;
    while (moved.size() < static_cast<std::size_t>(nodes)) {
        const i64 before = sides.wrong(core);
        i64 picked = -1, most = 0;
        for (i64 node = 0; node < nodes; node++) {
            if (gains.side[node] == LOCKED) continue;
            Sides after = sides;
            after.move(core, node, inside[node] ? -1 : 1);
            const i64 found = gains.gain[node] + before - after.wrong(core);
            if (picked < 0 || found > most) picked = node, most = found;
        }
        sides.move(core, picked, inside[picked] ? -1 : 1);
        gains.move(picked);
        gains.side[picked] = LOCKED;
        moved.push_back(picked);
        total += most;
        if (total > best) best = total, kept = moved.size();
    }
    for (; kept < moved.size(); kept++) inside[moved[kept]] ^= 1;
    return best;
}

}  // namespace

// Give each node half its own height and half the mean over its ports, again and again; the sum of all stays 0.
// Heights are as large as `most` allows: below `scaled` they can be multiplied by it.
HDNHW_API void cuts_smooth(const i32* behind, i64 nodes, i64 ports, i64* heights, i64 sweeps, i64 most,
                           i64 scaled) noexcept {
    const Table table{behind, nodes, ports};
    std::vector<i64> following(nodes);
    while (sweeps--) {
        i64 total = 0, highest = 0;
        for (i64 node = 0; node < nodes; node++) {
            i64 height = ports * heights[node];
            for (const i32 other : table[node]) height += heights[other >= 0 ? other : node];
            following[node] = height;
            total += height;
        }
        const i64 mean = floor_of(total, nodes);
        for (i64& height : following) {
            height -= mean;
            highest = std::max(highest, std::abs(height));
        }
        if (!highest) return;
        for (i64 node = 0; node < nodes; node++)
            heights[node] = highest < scaled ? floor_of(following[node] * most, highest)
                                             : floor_of(following[node], highest / most);
    }
}

// Improve a cut into halves by swaps as long as they pay: the next ones only after fewer than `patience` in vain.
HDNHW_API void cuts_swap(const i32* behind, i64 nodes, i64 ports, u8* inside, i64 patience) noexcept {
    while (swap_once({behind, nodes, ports}, inside, patience)) {
    }
}

// Improve a cut of a core, node by node; return what its balance costs.
HDNHW_API i64 cuts_shift(const i32* behind, i64 nodes, i64 ports, const i64* weight, const i64* leaves, i64 lacking,
                         u8* inside) noexcept {
    const Core core{weight, leaves, lacking};
    while (shift_once({behind, nodes, ports}, core, inside)) {
    }
    return Sides(core, inside, nodes).wrong(core);
}
