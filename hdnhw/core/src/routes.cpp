// Rules walked over all pairs of nodes, one destination at a time for all nodes at once.
#include <utility>
#include <vector>

#include "rule.hpp"
#include "table.hpp"

using namespace hdnhw;

namespace {

// What a rule decides at all nodes for one destination.
class Column {
   public:
    Column(const Rule* rule, const i32* address, i64 nodes)
        : rule_(rule), address_(address), dst_(nodes), decision_(nodes) {}

    void decide(i64 dst) {
        std::fill(dst_.begin(), dst_.end(), address_[dst]);
        rule_->decide(address_, dst_.data(), static_cast<i64>(dst_.size()), decision_.data());
    }
    i64 port(i64 node) const { return decision_[node] & PORT_MASK; }
    i64 vc(i64 node) const { return decision_[node] >> VC_SHIFT; }

   private:
    const Rule* rule_;
    const i32* address_;
    std::vector<i32> dst_, decision_;
};

// Fill the hops from every node to the one where they are 0; where they are `open`, follow `next`, which returns a
// negative node if the way ends there.
template <class Number, class Next>
void count_hops(i64 nodes, Number open, Number* hops, std::vector<i32>& stack, Next next) {
    for (i64 start = 0; start < nodes; start++) {
        i64 size = 0, node = start;
        while (node >= 0 && hops[node] == open) {
            stack[size++] = static_cast<i32>(node);
            node = next(node);
        }
        Number count = node < 0 ? Number{-1} : hops[node];
        while (size) {
            if (count >= 0) count++;
            hops[stack[--size]] = count;
        }
    }
}

u64 bits_at(const u64* row, i64 place) {  // 64 of them
    const i64 word = place >> 6, shift = place & 63;
    return shift ? row[word] >> shift | row[word + 1] << (64 - shift) : row[word];
}

}  // namespace

// Add to the load of channels what all terminals send to some destinations, and to the figures: hops, most hops, pairs
// whose route is longer than their distance, most hops too many, stretch, worst stretch.
HDNHW_API void routes_statistics(const Rule* rule, const i32* address, const i32* behind, i64 nodes, i64 ports,
                                 i64 terminals, const i64* destinations, i64 count, i64* load,
                                 double* figures) noexcept {
    const Table table{behind, nodes, ports};
    Column column(rule, address, nodes);
    std::vector<i32> distance(nodes), queue(nodes), hops(nodes), order(nodes), starts;
    std::vector<i64> flow(nodes);
    for (i64 item = 0; item < count; item++) {
        const i64 dst = destinations[item];
        column.decide(dst);
        search(table, dst, distance.data(), queue.data());
        std::fill(hops.begin(), hops.end(), -1);
        hops[dst] = 0;
        count_hops(nodes, -1, hops.data(), queue, [&](i64 node) { return table[node][column.port(node)]; });
        starts.assign(*std::max_element(hops.begin(), hops.end()) + 2, 0);
        for (const i32 far : hops) starts[far + 1]++;
        for (std::size_t far = 1; far < starts.size(); far++) starts[far] += starts[far - 1];
        for (i64 node = 0; node < nodes; node++) order[starts[hops[node]]++] = static_cast<i32>(node);
        add_load(table, terminals, order.data(), [&](i64 node) { return column.port(node); }, 1, flow.data(), load);
        for (i64 node = 0; node < terminals; node++) {
            if (node == dst) continue;
            const double far = hops[node], stretch = far / distance[node];
            figures[0] += far;
            figures[1] = std::max(figures[1], far);
            figures[2] += hops[node] > distance[node];
            figures[3] = std::max(figures[3], far - distance[node]);
            figures[4] += stretch;
            figures[5] = std::max(figures[5], stretch);
        }
    }
}

// Take every hop to every terminal and note channels, dependencies and turns; return -1, or source * nodes +
// destination of the first bad one. See hdnhw.rules.cdg.DependencyGraph for the arrays.
HDNHW_API i64 routes_dependencies(const Rule* rule, const i32* address, const i32* behind, i64 nodes, i64 ports,
                                  const i64* opposite, i64 terminals, i64 vcs, u8* used, u8* depends,
                                  u8* turns) noexcept {
    const Table table{behind, nodes, ports};
    Column column(rule, address, nodes);
    const i64 channels = ports * vcs;
    const auto turn = [&](i64 node, i64 in, i64 out) {
        turns[(node * (channels + 1) + in) * (channels + 1) + out] = 1;
    };
    for (i64 dst = 0; dst < terminals; dst++) {
        column.decide(dst);
        for (i64 node = 0; node < nodes; node++) {
            const i64 port = column.port(node), vc = column.vc(node);
            if (port > ports || (port == ports) != (node == dst) || vc >= vcs) return node * nodes + dst;
            if (port == ports) {
                turn(node, channels, channels);
                continue;
            }
            const i64 channel = port * vcs + vc, other = table[node][port], arrival = opposite[port] * vcs + vc;
            turn(node, channels, channel);
            if (other < 0) return node * nodes + dst;
            used[node * channels + channel] = 1;
            const i64 onward = column.port(other), following = onward * vcs + column.vc(other);
            if (onward > ports || column.vc(other) >= vcs) return other * nodes + dst;
            turn(other, arrival, onward == ports ? channels : following);
            if (onward < ports) depends[(node * channels + channel) * channels + following] = 1;
        }
    }
    return -1;
}

// Remove channels that nothing waits for until none is left; fill which cannot be removed, axes (node, channel).
HDNHW_API void routes_cycles(const u8* depends, const i32* behind, i64 nodes, i64 ports, i64 vcs, u8* left) noexcept {
    const i64 channels = ports * vcs;
    std::vector<i32> waiting(nodes * channels);
    std::vector<i64> stack;
    // Call `visit` with each channel that a packet in another one may wait for.
    const auto each = [&](i64 place, auto visit) {
        const i64 target = behind[place / vcs] * channels;
        for (i64 following = 0; following < channels; following++)
            if (depends[place * channels + following]) visit(target + following);
    };
    for (i64 place = 0; place < nodes * channels; place++) each(place, [&](i64 other) { waiting[other]++; });
    for (i64 place = 0; place < nodes * channels; place++) {
        left[place] = 1;
        if (!waiting[place]) stack.push_back(place);
    }
    while (!stack.empty()) {
        const i64 place = stack.back();
        stack.pop_back();
        left[place] = 0;
        each(place, [&](i64 other) {
            if (!--waiting[other]) stack.push_back(other);
        });
    }
}

// Fill the port that is taken, axes (destination, node).
HDNHW_API void routes_ports(const Rule* rule, const i32* address, i64 nodes, u8* port_of) noexcept {
    Column column(rule, address, nodes);
    for (i64 dst = 0; dst < nodes; dst++, port_of += nodes) {
        column.decide(dst);
        for (i64 node = 0; node < nodes; node++) port_of[node] = static_cast<u8>(column.port(node));
    }
}

// Fill the hops of routes, axes (destination, source); -1 where a channel is not in the table, as if it were dead.
HDNHW_API void routes_legs(const u8* port_of, const i32* behind, i64 nodes, i64 ports, i16* hops) noexcept {
    std::vector<i32> stack(nodes);
    std::fill_n(hops, nodes * nodes, i16{-2});
    for (i64 dst = 0; dst < nodes; dst++, port_of += nodes, hops += nodes) {
        hops[dst] = 0;
        count_hops(nodes, i16{-2}, hops, stack, [&](i64 node) { return behind[node * ports + port_of[node]]; });
    }
}

// Give every message the first slot in which all its way is free, in an order; return the slot behind the last one in
// which one ends, 0 if there are not enough. Arrays have axes (source, message); `order` names them by their places.
// `port_of` has axes (destination, node), `hop_slots` axis (port).
HDNHW_API i64 routes_timetable(const u8* port_of, const i32* behind, i64 nodes, i64 ports, const i64* destination,
                               const i64* order, const i64* hop_slots, i64 slots, i64* start) noexcept {
    const i64 words = slots / 64 + 2;  // two beyond the last bit, so that 64 can be read at any slot
    std::vector<u64> busy(nodes * (ports + 2) * words);
    i64 end = 1;
    std::vector<std::pair<u64*, i64>> way;  // what a message occupies, and how long after its start
    for (i64 place = 0; place < nodes * (nodes - 1); place++) {
        const i64 message = order[place], src = message / (nodes - 1), dst = destination[message];
        i64 after = 0;
        const auto add = [&](i64 node, i64 port) {
            way.emplace_back(&busy[(node * (ports + 2) + port) * words], after);
        };
        way.clear();
        add(src, ports + 1);  // injection
        for (i64 node = src; node != dst;) {
            const i64 port = port_of[dst * nodes + node];
            add(node, port);
            after += hop_slots[port];
            node = behind[node * ports + port];
        }
        add(dst, ports);  // ejection
        i64 slot = 0;
        u64 free = 0;
        for (; !free && slot < slots - after; slot += free ? lowest(free) : 64) {
            free = ~u64{0};
            for (const auto& [row, late] : way) free &= ~bits_at(row, slot + late);
        }
        if (!free || slot >= slots - after) return 0;
        for (const auto& [row, late] : way) row[(slot + late) >> 6] |= u64{1} << ((slot + late) & 63);
        start[message] = slot;
        end = std::max(end, slot + after + 1);
    }
    return end;
}
