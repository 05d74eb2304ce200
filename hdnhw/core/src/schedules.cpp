// Collective operations: messages moved step by step as a schedule's conditions say, and chunks along trees.
#include <vector>

#include "rule.hpp"
#include "table.hpp"

using namespace hdnhw;

namespace {

enum Fault : i64 { FINE, NO_PORT, TWO_PORTS, NOT_HELD, ELSEWHERE, LOST };  // of schedules
enum LongFault : i64 { DONE, NO_WAY, TAKEN, LACKED, TWICE, MISSED };        // of pipelines

// As hdnhw.collectives.executor hands it over. A program has the conditions of some sends of one step: bit k of its
// result is that of send `first + k`.
struct Program {
    i64 gate, gates, registers, result, step, first, sends;
};
struct Schedule {
    i64 nodes, ports, steps, programs;
    const Program* program;
    const Gate* gates;
    const i64* port_of;  // axis (send)
    const i32* address;  // axis (node): packed
    const i32* behind;   // axes (node, port)
    i64* counts;         // axes (send, node): messages

    Rule rule(const Program& one) const { return {gates + one.gate, one.gates, one.registers, one.result}; }
};

i64 say(i64* said, i64 fault, i64 when, i64 node) {
    said[0] = when;
    said[1] = node;
    return fault;
}

// Ask which nodes send messages for one destination; call `visit` with step, number and node of each send in turn as
// long as it returns no fault.
template <class Visit>
i64 each_send(const Schedule& schedule, i32 dst, Visit visit) {
    std::vector<i32> target(schedule.nodes, dst), sent(schedule.nodes);
    for (i64 place = 0; place < schedule.programs; place++) {
        const Program& program = schedule.program[place];
        schedule.rule(program).decide(schedule.address, target.data(), schedule.nodes, sent.data());
        for (i64 send = 0; send < program.sends; send++)
            for (i64 node = 0; node < schedule.nodes; node++)
                if (sent[node] >> send & 1)
                    if (const i64 fault = visit(program.step, program.first + send, node)) return fault;
    }
    return FINE;
}

// What is sent of blocks along trees: axes (tree, block, send). See hdnhw.collectives.pipeline.Sends.
struct Sends {
    i64 nodes, ports, trees, sends, step, total;
    const i32* behind;
    const i64 *senders, *ports_of, *rounds;
    const i64* chunks;  // axis (tree)
    u8* taken;          // axes (node, port, round)

    // Call `begin` for every chunk of every block, then `visit` with round, sender and receiver of each of its sends,
    // then `end`; all but the first return a fault.
    template <class Begin, class Visit, class End>
    i64 each(i64* said, Begin begin, Visit visit, End end) const {
        for (i64 way = 0; way < trees * nodes; way++)
            for (i64 chunk = 0; chunk < chunks[way / nodes]; chunk++) {
                const i64 block = way % nodes;
                begin(block);
                for (i64 send = way * sends; send < (way + 1) * sends; send++) {
                    const i64 node = senders[send], port = ports_of[send], now = rounds[send] + chunk * step;
                    const i64 other = behind[node * ports + port];
                    if (other < 0) return say(said, NO_WAY, now, node);
                    u8& busy = taken[(node * ports + port) * total + now];
                    if (const i64 fault = visit(now, node, other, busy)) return fault;
                }
                if (const i64 fault = end(block)) return fault;
            }
        return DONE;
    }
};

}  // namespace

// Functions that move messages return a fault, 0 if none, and fill in which step or round and at which node it is.

// Move the messages of one source to their destinations, of so many words each.
HDNHW_API i64 schedule_hand_on(const Schedule* schedule, i64 source, const i64* targets, const i64* words, i64 count,
                               i64* said) noexcept {
    struct Message {
        i64 node, fault, step;
        bool moves;
    };
    std::vector<Message> messages(count, {source, FINE, 0, false});
    std::vector<i32> own(count), target(count), sent(count);
    std::vector<i64> here(count);
    for (i64 place = 0; place < count; place++) target[place] = schedule->address[targets[place]];
    for (i64 place = 0, last = -1; place < schedule->programs; place++) {
        const Program& program = schedule->program[place];
        if (program.step != last)
            for (i64 k = 0; k < count; k++) {
                messages[k].moves = false;
                here[k] = messages[k].node;
                own[k] = schedule->address[here[k]];
            }
        last = program.step;
        schedule->rule(program).decide(own.data(), target.data(), count, sent.data());
        for (i64 k = 0; k < count; k++)
            for (u32 left = sent[k]; left && !messages[k].fault; left &= left - 1) {
                const i64 number = program.first + lowest(left);
                const i64 node = schedule->behind[here[k] * schedule->ports + schedule->port_of[number]];
                if (messages[k].moves || node < 0) {
                    messages[k] = {here[k], messages[k].moves ? TWO_PORTS : NO_PORT, last, true};
                    break;
                }
                messages[k] = {node, FINE, 0, true};
                schedule->counts[number * schedule->nodes + here[k]] += words[k];
            }
    }
    for (i64 k = 0; k < count; k++) {
        const Message& one = messages[k];
        if (one.fault) return say(said, one.fault, one.step, one.node);
        if (one.node != targets[k]) return say(said, ELSEWHERE, schedule->steps - 1, one.node);
    }
    return FINE;
}

// Spread the message of one source to all nodes; fill in too how many copies were sent to nodes that had one.
HDNHW_API i64 schedule_copy(const Schedule* schedule, i64 source, i64* said) noexcept {
    const i64 nodes = schedule->nodes, never = schedule->steps;
    std::vector<i64> since(nodes, never);
    since[source] = -1;
    i64 repeats = 0;
    const i64 fault = each_send(*schedule, 0, [&](i64 step, i64 number, i64 node) -> i64 {
        if (since[node] >= step) return say(said, NOT_HELD, step, node);
        const i64 other = schedule->behind[node * schedule->ports + schedule->port_of[number]];
        if (other < 0) return say(said, NO_PORT, step, node);
        schedule->counts[number * nodes + node]++;
        if (since[other] <= step)
            repeats++;
        else
            since[other] = step;
        return FINE;
    });
    said[2] = repeats;
    if (fault) return fault;
    for (i64 node = 0; node < nodes; node++)
        if (since[node] == never) return say(said, ELSEWHERE, never - 1, node);
    return FINE;
}

// Combine what all nodes have for one, and list who gives its part to whom: rows of step, node, other node.
HDNHW_API i64 schedule_combine(const Schedule* schedule, i64 target, i64* moved, i64* said) noexcept {
    const i64 nodes = schedule->nodes, never = schedule->steps;
    std::vector<i64> given(nodes, never), taken(nodes, never), parts(nodes, 1);
    const i64 fault = each_send(*schedule, schedule->address[target], [&](i64 step, i64 number, i64 node) -> i64 {
        if (given[node] < never) return say(said, NOT_HELD, step, node);
        const i64 other = schedule->behind[node * schedule->ports + schedule->port_of[number]];
        if (other < 0) return say(said, NO_PORT, step, node);
        if (taken[node] == step) return say(said, LOST, step, node);
        if (given[other] < never) return say(said, LOST, step, other);
        given[node] = taken[other] = step;
        parts[other] += parts[node];
        schedule->counts[number * nodes + node]++;
        for (const i64 value : {step, node, other}) *moved++ = value;
        return FINE;
    });
    if (fault) return fault;
    return parts[target] == nodes ? i64{FINE} : say(said, ELSEWHERE, never - 1, target);
}

// Let each channel take the first of its hops that it can, round by round, in rounds that are free in all periods. Hop
// hops[i] is on channel c for first[c] <= i < first[c + 1], and follows hop above[hops[i]]. Rounds that are not known
// yet are `later`.
HDNHW_API void pipeline_start(const i64* hops, const i64* first, i64 channels, const i64* above, i64 period, i64 later,
                              i64* starts) noexcept {
    std::vector<u8> taken(channels * period);
    std::vector<i64> begin(first, first + channels);
    i64 left = first[channels];
    for (i64 now = 0; left; now++) {
        u8* const taken_now = taken.data() + now % period * channels;
        for (i64 channel = 0; channel < channels; channel++) {
            u8& busy = taken_now[channel];
            if (busy) continue;
            for (i64 place = begin[channel]; place < first[channel + 1]; place++) {
                const i64 hop = hops[place];
                if (starts[hop] != later || starts[above[hop]] >= now) continue;
                starts[hop] = now;
                busy = 1;
                left--;
                break;
            }
            while (begin[channel] < first[channel + 1] && starts[hops[begin[channel]]] < later) begin[channel]++;
        }
    }
}

// Copy every chunk of every source to all nodes.
HDNHW_API i64 pipeline_copy(const Sends* sends, i64* said) noexcept {
    std::vector<i64> since(sends->nodes);
    const i64 total = sends->total;
    return sends->each(
        said,
        [&](i64 source) {
            std::fill(since.begin(), since.end(), total);
            since[source] = -1;
        },
        [&](i64 now, i64 node, i64 other, u8& busy) -> i64 {
            if (since[node] >= now) return say(said, LACKED, now, node);
            if (busy) return say(said, TAKEN, now, node);
            busy = 1;
            if (since[other] < total) return say(said, TWICE, now, other);
            since[other] = now;
            return DONE;
        },
        [&](i64) -> i64 {
            for (i64 node = 0; node < sends->nodes; node++)
                if (since[node] == total) return say(said, MISSED, total - 1, node);
            return DONE;
        });
}

// Combine every chunk of every block at its destination. A partial result is known by the contributions in it, a row of
// bits. One that is given away moves, so that no contribution is ever in two of them.
HDNHW_API i64 pipeline_combine(const Sends* sends, i64* said) noexcept {
    const i64 nodes = sends->nodes, words = (nodes + 63) / 64;
    std::vector<i64> since(nodes);
    std::vector<u64> parts(nodes * words);
    return sends->each(
        said,
        [&](i64) {
            std::fill(since.begin(), since.end(), -1);
            std::fill(parts.begin(), parts.end(), 0);
            for (i64 node = 0; node < nodes; node++) parts[node * words + (node >> 6)] = u64{1} << (node & 63);
        },
        [&](i64 now, i64 node, i64 other, u8& busy) -> i64 {
            if (busy) return say(said, TAKEN, now, node);
            busy = 1;
            u64 any = 0;
            for (i64 word = 0; word < words; word++) any |= parts[node * words + word];
            if (since[node] >= now || !any) return say(said, LACKED, now, node);
            for (i64 word = 0; word < words; word++) {
                parts[other * words + word] |= parts[node * words + word];
                parts[node * words + word] = 0;
            }
            since[other] = now;
            return DONE;
        },
        [&](i64 block) -> i64 {
            for (i64 node = 0; node < nodes; node++)
                if (!(parts[block * words + (node >> 6)] >> (node & 63) & 1))
                    return say(said, MISSED, sends->total - 1, block);
            return DONE;
        });
}
