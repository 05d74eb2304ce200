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

constexpr i64 AHEAD = 8;  // nodes of a queue, whose neighbours are asked for before they are needed

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

}  // namespace hdnhw
