// Breadth-first searches, and paths that share no node.
#include <vector>

#include "table.hpp"

using namespace hdnhw;

namespace {

constexpr i32 FAR = 1 << 30;

// A flow of disjoint paths: of each node the next one and the one before on its path, -1 for none. A node is two
// states, 2 node for in and 2 node + 1 for out.
struct Flow {
    Table table;
    i64 source, target;
    i32 *after, *before;

    // Call `visit` with each state behind another one in what is left of the network, and with the cost.
    template <class Visit>
    void each(i32 state, Visit visit) const {
        const i32 node = state / 2;
        const bool used = before[node] >= 0;
        if (state % 2 == static_cast<i32>(used))
            visit(state ^ 1, 0);  // through the node, or out of one whose path is joined
        else if (used && before[node] != source)
            visit(2 * before[node] + 1, -1);  // against its path
        if (state % 2 == 0) return;
        for (const i32 to : table[node])
            if (to >= 0 && to != source && before[to] != node && after[node] != to && (node != source || to != target))
                visit(2 * to, 1);
    }

    // Add a path of least cost; return whether there is one.
    bool augment() {
        const i32 states = static_cast<i32>(2 * table.nodes), end = static_cast<i32>(2 * target);
        std::vector<i32> cost(states, FAR), parent(states, -1), queue(states);
        std::vector<u8> waiting(states);
        i32 head = 0, size = 1;
        queue[0] = static_cast<i32>(2 * source + 1);
        cost[queue[0]] = 0;
        while (size) {
            const i32 state = queue[head];
            head = (head + 1) % states;
            size--;
            waiting[state] = false;
            each(state, [&](i32 other, i32 step) {
                if (cost[state] + step >= cost[other]) return;
                cost[other] = cost[state] + step;
                parent[other] = state;
                if (waiting[other] || other == end) return;
                waiting[other] = true;
                queue[(head + size++) % states] = other;
            });
        }
        if (cost[end] == FAR) return false;
        take(parent);
        return true;
    }

    // Take back the channels that a path runs against, then add those that it runs along.
    void take(const std::vector<i32>& parent) {
        const i32 start = static_cast<i32>(2 * source + 1), end = static_cast<i32>(2 * target);
        for (const bool adding : {false, true})
            for (i32 state = end; state != start; state = parent[state]) {
                const i32 node = parent[state] / 2, other = state / 2;
                if (node == other || (state % 2 == 0) != adding) continue;
                if (!adding) after[other] = before[node] = -1;
                if (adding && node != source) after[node] = other;
                if (adding && other != target) before[other] = node;
            }
    }
};

}  // namespace

HDNHW_API i64 search_go_on(const i32* table, i64 nodes, i64 ports, i32* distance, i32* queue, i64 start,
                           i64 end) noexcept {
    return go_on({table, nodes, ports}, distance, queue, start, end);
}

// Queue those of some nodes that were not reached before; return the end of the queue.
HDNHW_API i64 search_reach(const i64* others, i64 count, i32* distance, i32* queue, i64 end, i64 hops) noexcept {
    for (i64 place = 0; place < count; place++) {
        const i64 node = others[place];
        if (node < 0 || distance[node] >= 0) continue;
        distance[node] = static_cast<i32>(hops);
        queue[end++] = static_cast<i32>(node);
    }
    return end;
}

HDNHW_API void search_sums(const i32* table, i64 nodes, i64 ports, i64* sums) noexcept {
    std::vector<i32> distance(nodes), queue(nodes);
    for (i64 node = 0; node < nodes; node++) {
        search(Table{table, nodes, ports}, node, distance.data(), queue.data());
        sums[node] = 0;
        for (const i32 far : distance) sums[node] += far;
    }
}

// Fill between which nodes there is a path: a row of bits for each.
HDNHW_API void search_connected(const i32* table, i64 nodes, i64 ports, u64* reached) noexcept {
    std::vector<i32> distance(nodes), queue(nodes);
    for (i64 source = 0; source < nodes; source++, reached += (nodes + 63) / 64) {
        const i64 end = search(Table{table, nodes, ports}, source, distance.data(), queue.data());
        for (i64 place = 0; place < end; place++) reached[queue[place] >> 6] |= u64{1} << (queue[place] & 63);
    }
}

// Fill the pairs with a node in between that the first one reaches and that reaches the second.
HDNHW_API void search_join(const u64* first, const u64* then, i64 nodes, u64* joined) noexcept {
    const i64 words = (nodes + 63) / 64;
    for (i64 source = 0; source < nodes; source++)
        for (i64 word = 0; word < words; word++)
            for (u64 left = first[source * words + word]; left; left &= left - 1) {
                const u64* const row = then + (64 * word + lowest(left)) * words;
                for (i64 k = 0; k < words; k++) joined[source * words + k] |= row[k];
            }
}

// Add paths of least cost as long as there is one; the channel from source to target stays out of them.
HDNHW_API void search_paths(const i32* table, i64 nodes, i64 ports, i64 source, i64 target, i32* after,
                            i32* before) noexcept {
    Flow flow{{table, nodes, ports}, source, target, after, before};
    while (flow.augment()) {
    }
}
