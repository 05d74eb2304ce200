// Trees of routes to every destination: shortest ones, and ones that go up and then down. Arrays of trees have axes
// (destination, node); `rank` and `load` have axes (node, port).
#include <vector>

#include "table.hpp"

using namespace hdnhw;

namespace {

// Fill the hops from every node: down where only that leads to `dst`, else up and then down; return how many of the
// nodes, which stand first in `order`, have a way down, or -1 if one has no way.
i64 ways(const Table& table, const i64* height, const i64* from_top, i64 dst, std::vector<i32>& far,
         std::vector<i32>& order) {
    std::fill(far.begin(), far.end(), -1);
    far[dst] = 0;
    order[0] = static_cast<i32>(dst);
    i64 end = 1;
    for (i64 start = 0; start < end; start++) {
        const i32 node = order[start];
        for (const i32 other : table[node]) {
            if (other < 0 || height[other] <= height[node] || far[other] >= 0) continue;
            far[other] = far[node] + 1;
            order[end++] = other;
        }
    }
    const i64 below = end;
    for (i64 place = 0; place < table.nodes; place++) {
        const i64 node = from_top[place];
        if (far[node] >= 0) continue;
        for (const i32 other : table[node]) {
            if (other < 0 || height[other] < height[node] || far[other] < 0) continue;
            if (far[node] < 0 || far[other] + 1 < far[node]) far[node] = far[other] + 1;
        }
        if (far[node] < 0) return -1;
        order[end++] = static_cast<i32>(node);
    }
    return below;
}

}  // namespace

// Fill trees, destination by destination: of ports on shortest routes, the one of least descents and load.
HDNHW_API void trees_short(const i32* behind, i64 nodes, i64 ports, const i64* rank, i64 terminals, i64 by_load,
                           i64 sweeps, i16* port_of, i16* hops, i16* descents, i64* load) noexcept {
    const Table table{behind, nodes, ports};
    std::vector<i32> order(nodes);
    std::vector<i64> flow(nodes), weight(nodes);
    for (i64 turn = 0; turn < sweeps * terminals; turn++) {
        const i64 dst = turn % terminals;
        i16 *const port_to = port_of + dst * nodes, *const far = hops + dst * nodes;
        i16* const down = descents + dst * nodes;
        search(table, dst, far, order.data());
        const auto add = [&](i64 sign) {
            add_load(table, terminals, order.data(), [&](i64 node) { return port_to[node]; }, sign, flow.data(), load);
        };
        if (turn >= terminals) add(-1);
        port_to[dst] = -1;
        down[dst] = 0;
        weight[dst] = 0;
        for (i64 place = 1; place < nodes; place++) {
            const i64 node = order[place];
            i64 found = -1, fewest = 0, least = 0;
            for (i64 step = 0; step < ports; step++) {
                const i64 port = (step + dst) % ports, channel = node * ports + port, other = behind[channel];
                if (other < 0 || far[other] != far[node] - 1) continue;
                const bool falls = other != dst && rank[other * ports + port_to[other]] < rank[channel];
                const i64 count = down[other] + falls, cost = weight[other] + load[channel] * load[channel];
                const i64 first = by_load ? cost : count, second = by_load ? count : cost;
                if (found >= 0 && (first > fewest || (first == fewest && second >= least))) continue;
                found = port, fewest = first, least = second;
                down[node] = static_cast<i16>(count);
                weight[node] = cost;
            }
            port_to[node] = static_cast<i16>(found);
        }
        add(1);
    }
}

// Fill the class of every hop: of every second pair of destinations as low as can be, of the others as high.
HDNHW_API void trees_classes(const i32* behind, i64 nodes, i64 ports, const i64* rank, i64 terminals, i64 most,
                             const i16* port_of, const i16* descents, i16* classes) noexcept {
    const Table table{behind, nodes, ports};
    std::vector<i32> distance(nodes), order(nodes);
    for (i64 dst = 0; dst < terminals; dst++, port_of += nodes, descents += nodes, classes += nodes) {
        for (i64 node = 0; node < nodes; node++) classes[node] = static_cast<i16>(dst & 2 ? 0 : most - descents[node]);
        if (!(dst & 2)) continue;
        search(table, dst, distance.data(), order.data());
        for (i64 place = nodes - 1; place > 0; place--) {
            const i64 node = order[place], channel = node * ports + port_of[node], other = behind[channel];
            if (other == dst) continue;
            const bool falls = rank[other * ports + port_of[other]] < rank[channel];
            classes[other] = std::max(classes[other], static_cast<i16>(classes[node] + falls));
        }
    }
}

// Fill trees, of equally long ways by the least load of the next channel; return hops in all, -1 if there is no tree.
HDNHW_API i64 trees_up_down(const i32* behind, i64 nodes, i64 ports, const i64* height, const i64* from_top,
                            i64 terminals, i16* port_of, i64* load) noexcept {
    const Table table{behind, nodes, ports};
    std::vector<i32> far(nodes), order(nodes);
    std::vector<u8> descends(nodes);
    i64 total = 0;
    for (i64 dst = 0; dst < terminals; dst++, port_of += nodes) {
        const i64 below = ways(table, height, from_top, dst, far, order);
        if (below < 0) return -1;
        for (i64 node = 0; node < terminals; node++) total += far[node];
        port_of[dst] = -1;
        for (i64 place = 0; place < nodes; place++) descends[order[place]] = place < below;
        for (i64 place = 1; place < nodes; place++) {
            const i64 node = order[place], first = node * ports;
            i64 found = -1;
            for (i64 step = 0; step < ports; step++) {
                const i64 port = (step + dst) % ports, other = behind[first + port];
                if (other < 0 || far[other] != far[node] - 1) continue;
                if ((height[other] < height[node]) != descends[node] || descends[other] < descends[node]) continue;
                if (found < 0 || load[first + port] < load[first + found]) found = port;
            }
            port_of[node] = static_cast<i16>(found);
        }
        for (i64 source = 0; source < terminals; source++)
            for (i64 node = source; node != dst; node = behind[node * ports + port_of[node]])
                load[node * ports + port_of[node]]++;
    }
    return total;
}
