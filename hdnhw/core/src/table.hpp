// A network as the nodes behind the ports of each node, and the search from one of them.
#pragma once

#include <algorithm>
#include <span>

#include "common.hpp"

namespace hdnhw {

struct Table {
    const i32* behind;  // axes (node, port), -1 where there is no port
    i64 nodes, ports;

    std::span<const i32> operator[](i64 node) const {
        return {behind + node * ports, static_cast<std::size_t>(ports)};
    }
};

constexpr i64 AHEAD = 8;  // nodes of a queue, whose neighbors are asked for before they are needed

// Go on with a search from the nodes that are queued; return the end of the queue.
template <class Number, class Place>
i64 go_on(const Table& table, Number* distance, Place* queue, i64 start, i64 end) {
    for (; start < end; start++) {
        const i64 node = queue[start];
        if (start + AHEAD < end) ask(&table[queue[start + AHEAD]][0]);
        for (const i32 other : table[node])
            if (other >= 0 && distance[other] < 0) {
                distance[other] = distance[node] + 1;
                queue[end++] = other;
            }
    }
    return end;
}

// Fill the distances from a node, -1 where no path leads, and the order in which others are reached; return how many.
template <class Number, class Place>
i64 search(const Table& table, i64 source, Number* distance, Place* queue) {
    std::fill_n(distance, table.nodes, Number{-1});
    distance[source] = 0;
    queue[0] = static_cast<Place>(source);
    return go_on(table, distance, queue, 0, 1);
}

// Add to the load of channels what each of the terminals sends along a tree of ports, `sign` times: `order` has its
// root first and the farthest node last. The flow out of each node is work space.
template <class PortOf>
void add_load(const Table& table, i64 terminals, const i32* order, PortOf port_of, i64 sign, i64* flow, i64* load) {
    std::fill_n(flow, terminals, sign);
    std::fill_n(flow + terminals, table.nodes - terminals, 0);
    for (i64 place = table.nodes - 1; place > 0; place--) {
        const i64 node = order[place], port = port_of(node);
        load[node * table.ports + port] += flow[node];
        flow[table[node][port]] += flow[node];
    }
}

}  // namespace hdnhw
