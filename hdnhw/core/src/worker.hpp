// The stages of routers and terminals, as a thread does them for its parts.
#pragma once

#include "fabric.hpp"
#include "post.hpp"

namespace hdnhw {

constexpr int TURN_SLOTS = 256;  // as hdnhw.machine.timing has it

// What threads share.
template <class K>
struct Shared {
    Machine machine;
    Records<K> routers;
    Ways ways;
    i64 part_bits = 0, num_parts = 0, nodes_of_part = 0;
    Part* parts = nullptr;
    i64 begin = 0, end = 0;  // of the parts of this rank: the others are not made
    List<u64> first;         // axes (worker, part): where its mail begins
    Mail<Item> crossing;
    Mail<Extra> extras;  // beside it
    Mail<Credit> returning;
    Counters counters;
    List<i64> dropped;
    List<i32> chosen;      // axes (node, 3), with UGAL: creation, destination and by of the last packet of a source
    List<u32> next_free;   // axes (node, port), where an interval is more than a slot: the first in which one can cross
    List<i64> gone;        // axes (parity of meetings, thread)
    std::atomic<i64> meetings{0};
    std::atomic<bool> failed{false};
    Post post;
    i64 lookahead = 1;    // steps after that of sending in which nothing comes yet, and one
    i64 all_gone = 0;     // of all ranks
    i64 moving_mask = 0;  // of the rings of parts
    i64 cycle = 0, slot = 0;
    Ledger* ledger = nullptr;
    i64 origin = 0, stretch = 0;  // cycle 0 of the traffic; cycles that are drawn at a time

    Shared(const Machine& given)
        : machine(given), ways(*given.rule, static_cast<int>(given.address_bits), static_cast<int>(given.vc_bits),
                               given.queues()) {}
    ~Shared() { delete[] parts; }

    i64 first_part(i64 worker) const { return num_parts * worker / machine.workers(); }
    i64 exchange(i64 step, i64 number);
};

// Let ranks exchange the mail that comes from a step on, as far as it is complete, or none before step 0; return the
// sum of a number of each.
template <class K>
i64 Shared<K>::exchange(i64 step, i64 number) {
    const i64 last = step < 0 ? step : step + lookahead;
    const auto each = [&](i64 from, i64 to, auto&& pass) {
        for (i64 at = step; at < last; at++)
            for (i64 worker = from * machine.threads; worker < (from + 1) * machine.threads; worker++)
                for (i64 k = first_part(to * machine.threads); k < first_part((to + 1) * machine.threads); k++) {
                    const i64 box = worker * num_parts + k;
                    pass(crossing, at, box);
                    if (machine.has_extra()) pass(extras, at, box);
                    pass(returning, at, box);
                }
    };
    const auto send = [&](auto& mail, i64 slot, i64 box) {
        post.put(mail.begin(slot, box), mail.length(slot, box));
        mail.end(slot, box) = mail.begin(slot, box);
    };
    const auto take = [&](auto& mail, i64 slot, i64 box) {
        auto*& end = mail.end(slot, box);
        end += post.get(end);
    };
    return post.exchange(
        machine, number, [&](i64 rank) { each(machine.rank, rank, send); },
        [&](i64 rank) { each(rank, machine.rank, take); });
}

template <class K>
class Worker {
   public:
    Worker(Shared<K>& shared, i64 thread)
        : s(shared), m(shared.machine), routers(shared.routers), thread_(thread),
          worker_(m.rank * m.threads + thread), workers_(m.workers()), local_(static_cast<u16>(m.local())),
          vc_bits_(static_cast<int>(m.vc_bits)), part_bits_(static_cast<int>(shared.part_bits)),
          place_mask_(static_cast<u32>(shared.nodes_of_part - 1)),
          special_(m.rounds || m.scheme == ADAPTIVE || m.counting),
          watched_(m.scheme == ADAPTIVE || m.dead || m.early || m.counting), slow_(shared.next_free.size() > 0),
          has_extra_(m.has_extra()), pauses_(m.pauses()), alone_(K::small || shared.num_parts == 1) {
        begin_ = s.first_part(worker_), end_ = s.first_part(worker_ + 1);
        const std::size_t inputs = m.ports + 1;
        winner.assign(inputs, NONE);
        chosen.assign(inputs, NONE);
        leader.assign(inputs, NONE);
        partner.assign(inputs, NONE);
        ways_.resize(m.queues());
        i64 latest = 1;
        for (i64 way = 0; way < m.local(); way++) {
            const i64 port = way >> vc_bits_, mirror = m.mirror[way], back = m.credit_latency[mirror >> vc_bits_];
            ways_[way] = {static_cast<u16>(mirror), static_cast<u16>(port), static_cast<u16>(m.latency[port]),
                          static_cast<u16>(back)};
            latest = std::max({latest, static_cast<i64>(m.latency[port]), back});
        }
        sends_.assign(latest + 1, nullptr);
        returns_.assign(latest + 1, nullptr);
        extra_sends_.assign(latest + 1, nullptr);
    }

    void run(i64 packets, i64 limit);
    void step(Part& part, i64 now) {  // an allocation of a part by itself
        slot = now;
        begin_slot();
        begin_turn(0);
        allocate(part, 0);
        out.clear();
    }
    List<Row> out;
    Progress progress;
    i64 cycle = 0, slot = 0;

   private:
    using Word = typename K::Word;
    using Router = typename Records<K>::Router;
    struct Request {
        u32 entry;
        u16 queue, way;
    };
    // Of a way: the queue at its end, its port, and slots to there. The same of a queue, where a way leads to it: that
    // way, and slots that a credit takes to it.
    struct Channel {
        u16 mirror, port, latency, credit_latency;
    };

    void begin_slot();
    void begin_turn(i64 turn);

    // router stages
    void work_slot(Part& part, i64 turn, bool plain);
    void deliver(Part& part);
    void enter_all(Part& part, List<Moving>& coming, u32 hops);
    void enter_batch(Part& part, const Moving* came, std::size_t count);
    i32 target_of(Part& part, u32 node, u16 queue, u32 entry, bool& is_aside);
    void take_in(Part& part, u32 node, u16 queue, u32 entry, i32 way, bool is_aside);
    i32 watch(Part& part, u32 node, u16 queue, u32 entry, i32 way);
    void allocate(Part& part, i64 turn);
    void allocate(Part& part, i64 turn) requires K::small;
    void allocate_node(Part& part, u32 node, Router& router);
    void grant(Part& part, u32 node, Router& router);
    bool precedes(Router& router, bool several, const Link& one, const Link& other) const;
    void match(Part& part, u32 node, Router& router);
    void make_requests(Part& part, Router& router);
    bool goes_first(Router& router, const Request& one, const Request& other) const;
    Word sent_by_input(Router& router, u32 way, u32 port) const;
    void send(Part& part, u32 node, Router& router, u32 entry, u16 queue, u16 way);
    void eject(Part& part, u32 node, u32 entry);
    // How long a packet that is sent now queues for a channel whose interval may be more than a slot.
    i64 wait_for_wires(i64 node, i64 port) {
        u32& next = s.next_free[node * m.ports + port];
        const i64 start = std::max(slot, static_cast<i64>(next));
        next = static_cast<u32>(start + m.interval[port]);
        return (start - slot) * m.turns();
    }
    // Whether the buffers of injection are in use.
    bool is_full(Part& part, u32 node) const {
        if constexpr (K::small) return !routers[node].credits[K::INJECTION];
        return part.sources[node].occupied >= m.injection_buffers;
    }
    // ways
    i32 way_to(i32 own, i32 target) const { return s.ways(own, target); }
    void draw(Part& part, u32 node, u32 entry);
    void choose(Part& part, u32 node, u32 entry);
    void choose_at(Part& part, u32 node, i64 source, u32 entry);
    i64 hops(i64 node, i32 end, i32 target, i64 most, i64& stop) const;
    i64 ahead_of(Part& part, u32 node, i32 target, i64 first_vc) const;
    void adapt(Part& part, u32 node, Router& router);
    u16 freest(Part& part, u32 node, Router& router, u32 entry);
    // terminals
    void work_terminals(Part& part, bool samples, i64 end, i64 limit);
    void work_cycle(Part& part, bool samples, i64 now);
    void offer_until(Part& part, i64 now);
    void offer_known(Part& part, i64 now);
    void offer(Part& part, u32 node, const Packet& packet, i32 pace);
    void draw_on(Part& part);
    void accept(Part& part, u32 node, i64 now);
    void inject_slot(Part& part, i64 begin, bool tails);
    void inject_gapless(Part& part, i64 now, bool taken);
    void inject_cycle(Part& part, i64 now, bool tails);
    void store_leaving(Part& part);
    void eject_cycle(Part& part, i64 now, bool late);
    void leave(Part& part, u32 node, u32 entry, i64 tail);
    i64 ahead(const Part& part, u32 node) const { return m.odd && m.odd[part.begin + node] ? m.offset : 0; }
    // counters
    void count_slot(Part& part, u32 node, Router& router);
    void count_injected(Part& part, u32 node) {
        if (m.counting) s.counters.sent[injection(part, node) << m.vc_bits]++;
    }
    void count_waiting(Part& part, u32 node) {
        if (m.counting) s.counters.stalled[injection(part, node)]++;
    }
    i64 injection(const Part& part, u32 node) const { return (part.begin + node) * (m.ports + 2) + m.ports + 1; }
    // threads
    void meet();
    i64 seen_gone(i64 gone, i64 step, bool counts);
    void exchange(i64 step, i64 gone, bool counts);
    i64 step_of(i64 turn) const { return m.odd ? 2 * slot + turn : slot; }

    Shared<K>& s;
    const Machine& m;
    Records<K>& routers;
    const i64 thread_, worker_, workers_;  // of the rank, of all, and how many there are
    i64 begin_, end_, meeting_ = 0, ejected_ = 0;  // parts; place of the slot in rings of ejection
    const u16 local_;
    const int vc_bits_, part_bits_;
    const u32 place_mask_;
    const bool special_, watched_, slow_, has_extra_, pauses_, alone_;
    Word now_ = 0;                    // what is noted of who is served
    i64 step_ = 0;                    // slots, half slots if nodes are odd
    i64 exchanged_ = 0;               // the step from which on mail has not been exchanged
    List<Channel> ways_;
    List<Item**> sends_;              // axis (latency): ends of the mail of a slot, by parts
    List<Credit**> returns_;
    List<Extra**> extra_sends_;
    List<u32> winner, chosen, leader, partner;  // of outputs, inputs, outputs, inputs: entries, requests or outputs
    List<u16> inputs;
    List<Request> requests;
    std::size_t old_ = 0;  // requests of the first round
    List<Moving> accepted;  // of a part: from channels, or from sources
    List<u32> complete;     // of a part: nodes that have a packet to inject
    List<Created> drawn;    // of a part: messages by senders, and where those of a cycle begin
    List<u32> places;
};

// --- router stages -------------------------------------------------------------------------------------------------

template <class K>
void Worker<K>::work_slot(Part& part, i64 turn, bool plain) {
    if (turn == 0) {
        if (slot % Records<K>::EPOCH == 0)
            for (i64 node = part.begin; node < part.begin + part.size; node++) routers.start_epoch(routers[node]);
        for (u16 node : part.freed) part.sources[node].occupied--;
        part.freed.clear();
        if (plain) {
            List<u16>& back = part.ejected[ejected_];
            for (u16 node : back) routers.credits(routers[part.begin + node])[local_]++;
            back.clear();
        }
    }
    for (i64 worker = 0; worker < workers_; worker++) {
        const i64 box = worker * s.num_parts + part.number;
        const Credit* const end = s.returning.end(step_, box);
        for (const Credit* credit = s.returning.begin(step_, box); credit != end; credit++) {
            if constexpr (!K::small) ask(&routers[part.begin + credit[AHEAD].node]);
            routers.credits(routers[part.begin + credit->node])[credit->way]++;
        }
        s.returning.end(step_, box) = s.returning.begin(step_, box);
    }
    deliver(part);
    allocate(part, turn);
}

// Put packets that have crossed a channel into the queues of a part's routers.
template <class K>
void Worker<K>::deliver(Part& part) {
    List<Moving>& moving = alone_ ? part.moving[step_ & s.moving_mask] : accepted;
    for (i64 worker = 0; worker < workers_ && !alone_; worker++) {
        const i64 box = worker * s.num_parts + part.number;
        const Item* const begin = s.crossing.begin(step_, box);
        const Item* const end = s.crossing.end(step_, box);
        for (const Item* item = begin; item != end; item++) {
            const u32 entry = part.entries.take();
            part.entries.ask_ahead();
            part.entries.packets[entry] = item->packet;
            if (has_extra_) part.entries.extras[entry] = s.extras.begin(step_, box)[item - begin];
            moving.push({entry, item->node, item->queue});
        }
        s.crossing.end(step_, box) = s.crossing.begin(step_, box);
        if (has_extra_) s.extras.end(step_, box) = s.extras.begin(step_, box);
    }
    enter_all(part, moving, 1);
}

// Route computation: put packets that come over so many channels into queues of routers, and forget that they come.
template <class K>
void Worker<K>::enter_all(Part& part, List<Moving>& coming, u32 hops) {
    if constexpr (K::small) {
        if (const u8* const table = s.ways.table(); table && !watched_ && !m.is_drawn()) {
            Records<K>& own = routers;
            Packet* const packets = part.entries.packets.begin();
            Link* const links = part.entries.links.begin();
            const i32* const address = m.address;
            const int bits = s.ways.bits();
            for (const Moving *came = coming.begin(), *const end = coming.end(); came != end; came++) {
                const u32 node = came->node, target = static_cast<u32>(packets[came->entry].destination);
                const u8 way = table[static_cast<u64>(static_cast<u32>(address[node])) << bits | target];
                packets[came->entry].hops += hops;
                own.push(links, own[node], came->entry, came->queue, way);
                part.busy.add(node);
            }
            coming.clear();
            return;
        }
    }
    if (hops)
        for (const Moving& came : coming) part.entries.packets[came.entry].hops += hops;
    if (s.ways.known()) {
        for (const Moving& came : coming) {
            bool is_aside;
            const i32 target = target_of(part, came.node, came.queue, came.entry, is_aside);
            const i32 way = way_to(m.address[part.begin + came.node], target);
            take_in(part, came.node, came.queue, came.entry, way, is_aside);
        }
    } else {
        const std::size_t count = coming.size(), most = Rule::BATCH;
        for (std::size_t done = 0; done < count; done += most)
            enter_batch(part, coming.begin() + done, std::min(most, count - done));
    }
    coming.clear();
}

// The same for as many as the rule decides on at a time.
template <class K>
void Worker<K>::enter_batch(Part& part, const Moving* came, std::size_t count) {
    i32 own[Rule::BATCH]{}, target[Rule::BATCH]{}, way[Rule::BATCH];
    bool aside[Rule::BATCH];
    for (std::size_t k = 0; k < count; k++) {
        ask(&routers[part.begin + came[k].node]);
        own[k] = m.address[part.begin + came[k].node];
        target[k] = target_of(part, came[k].node, came[k].queue, came[k].entry, aside[k]);
    }
    s.ways(own, target, count, way);
    for (std::size_t k = 0; k < count; k++)
        take_in(part, came[k].node, came[k].queue, came[k].entry, way[k], aside[k]);
}

// What a packet is routed to from a node on: its destination, or first a node that it goes aside to.
template <class K>
inline i32 Worker<K>::target_of(Part& part, u32 node, u16 queue, u32 entry, bool& is_aside) {
    is_aside = false;
    if (K::general && m.is_drawn()) {
        i32& by = part.entries.extras[entry].by;
        if (by >= UNDECIDED && queue < local_)
            choose_at(part, node, m.neighbor(part.begin + node, queue >> vc_bits_), entry);
        const i32 own = m.address[part.begin + node], first = by & (UNDECIDED - 1);
        if (by >= 0 && (m.drawn_nodes[first] == own || m.drawn_targets[first] == own)) by = ~first;
        if (by >= 0) {
            is_aside = true;
            return m.drawn_targets[first];
        }
    }
    return part.entries.packets[entry].destination;
}

// Put a packet into a queue with the way that it takes.
template <class K>
inline void Worker<K>::take_in(Part& part, u32 node, u16 queue, u32 entry, i32 way, bool is_aside) {
    if (K::general && !is_aside && way < local_) way += static_cast<i32>(m.first_vc);
    if (watched_) [[unlikely]]
        way = watch(part, node, queue, entry, way);
    routers.push(part.entries.links.begin(), routers[part.begin + node], entry, queue, static_cast<u16>(way));
    part.busy.add(node);
}

// What is noted of a packet that comes in, for the options of a machine; a packet whose next channel is dead is
// ejected.
template <class K>
i32 Worker<K>::watch(Part& part, u32 node, u16 queue, u32 entry, i32 way) {
    if (m.scheme == ADAPTIVE) part.entries.nearer[entry * m.adaptive_words()] = ~static_cast<i64>(way);
    if (m.early) part.entries.came[entry] = static_cast<u32>(slot);
    if (m.counting) {
        const i64 place = (part.begin + node) * m.queues() + queue;
        s.counters.held[place] -= slot;
        s.counters.level[place]++;
    }
    return m.dead && way < local_ && m.dead[(part.begin + node) * m.ports + (way >> vc_bits_)] ? local_ : way;
}

// Allocate every router of a part that holds a packet and send the winners on. Odd routers have the first turn in a
// slot; with cut-through, what they send is there when the others have theirs.
template <class K>
void Worker<K>::allocate(Part& part, i64 turn) {
    Link* const links = part.entries.links.begin();
    part.busy.each([&](u32 node) {
        if (m.odd && m.odd[part.begin + node] == turn) return;
        Router& router = routers[part.begin + node];
        const u32 head = router.first;
        const Link link = links[head];
        if (!special_ && link.next == NONE) {  // one queue holds packets: nothing else can be sent
            if (routers.credits(router)[link.way]) {
                if (link.behind == NONE) {
                    router.first = NONE;
                    router.present = 0;
                    part.busy.drop(node);
                } else {
                    take_head(links, &router.first);
                }
                send(part, node, router, head, link.queue, link.way);
            }
            return;
        }
        allocate_node(part, node, router);
        if (router.first == NONE) part.busy.drop(node);
    });
}

// The same where routers are small: what is chosen and sent without a branch, as far as can be.
template <class K>
void Worker<K>::allocate(Part& part, i64 turn) requires K::small {
    const bool by_class = m.lane_bits == 0 && (slot + 1) % CLASS_SLOTS, slow = slow_, counting = m.counting;
    const u32 local = local_;
    const u8* const odd = m.odd;
    const Link* const links = part.entries.links.begin();
    Credit*** const returns = returns_.begin();
    List<Moving>* const moving = part.moving;
    const u32 step = static_cast<u32>(step_), mask = static_cast<u32>(s.moving_mask);
    Records<K>& own = routers;
    part.busy.keep([&](u32 node) __attribute__((always_inline)) {
        if (odd && odd[node] == turn) return true;
        Router& router = own[node];
        const typename Records<K>::Choice choice(router, by_class);
        u32 offers = choice.offered(choice.ready()), sent = 0;
        if (counting) [[unlikely]] {
            for (u32 left = offers; left;) {
                const u32 queue = choice.next(left);
                winner[router.way[queue] >> vc_bits_] = own.rows(router)[queue].head;
            }
            count_slot(part, node, router);
            std::fill(winner.begin(), winner.end(), NONE);
        }
        while (offers) {
            const u32 queue = choice.next(offers), way = router.way[queue];
            const u32 entry = own.pop(links, router, queue, way);
            sent |= 1u << queue;
            const auto &from = own.rows(router)[queue], &to = own.rows(router)[way];
            Credit*& end = *returns[from.credit_latency];
            *end++ = {from.node, from.mirror};
            u32 later = to.latency;
            if (slow && way < local) [[unlikely]]
                later += static_cast<u32>(wait_for_wires(node, way >> vc_bits_));
            const u32 leaves = way >= local ? ~u32{0} : 0, ring = (step + later) & mask;
            moving[(ring & ~leaves) | ((mask + 1) & leaves)].push({entry, to.node, to.mirror});
        }
        own.serve(router, sent);
        progress.sent += __builtin_popcount(sent);
        return router.present != 0;
    });
    List<Moving>& gone = moving[mask + 1];
    progress.sent -= static_cast<i64>(gone.size());
    for (const Moving& packet : gone) eject(part, packet.node, packet.entry);
    gone.clear();
}

template <class K>
void Worker<K>::allocate_node(Part& part, u32 node, Router& router) {
    if (m.scheme == ADAPTIVE) adapt(part, node, router);
    if (m.rounds)
        match(part, node, router);
    else
        grant(part, node, router);
}

// Separable allocation, input first: an input offers the queue that sent longest ago of those whose first packet may
// be sent; an output takes one of what is offered to it.
template <class K>
void Worker<K>::grant(Part& part, u32 node, Router& router) {
    Link* const links = part.entries.links.begin();
    const Word* const sent = routers.sent(router);
    const bool several = K::general && m.several[part.begin + node];
    const auto contend = [&](u32 entry) {
        const u32 output = links[entry].way >> vc_bits_;
        if (winner[output] == NONE || precedes(router, several, links[entry], links[winner[output]]))
            winner[output] = entry;
    };
    u32 granted = 0;
    if (several) {
        inputs.clear();
        for (u32 head = router.first; head != NONE; head = links[head].next) {
            const Link& link = links[head];
            if (!routers.credits(router)[link.way]) continue;
            const u16 port = static_cast<u16>(link.queue >> vc_bits_);
            if (chosen[port] == NONE) {
                chosen[port] = head;
                inputs.push(port);
            } else if (sent[link.queue] < sent[links[chosen[port]].queue]) {
                chosen[port] = head;
            }
        }
        for (u16 port : inputs) {
            contend(chosen[port]);
            chosen[port] = NONE;
        }
        granted = static_cast<u32>(inputs.size());
    } else {
        for (u32 head = router.first; head != NONE; head = links[head].next)
            if (routers.credits(router)[links[head].way]) {
                contend(head);
                granted++;
            }
    }
    if (m.counting) count_slot(part, node, router);
    if (!granted) return;
    u64 present = 0;
    for (u32* where = &router.first; *where != NONE;) {
        const u32 entry = *where;
        const Link link = links[entry];
        const u32 output = link.way >> vc_bits_;
        if (winner[output] == entry) {
            winner[output] = NONE;
            if (link.behind != NONE) present |= u64{1} << (link.queue & 63);
            where = take_head(links, where);
            send(part, node, router, entry, link.queue, link.way);
        } else {
            present |= u64{1} << (link.queue & 63);
            where = &links[entry].next;
        }
    }
    router.present = present;
}

// Whether one offer comes before another at the output that both want.
template <class K>
bool Worker<K>::precedes(Router& router, bool several, const Link& one, const Link& other) const {
    if (K::general && several) {
        if (one.way >> m.lane_bits != other.way >> m.lane_bits && (slot + 1) % CLASS_SLOTS) return one.way > other.way;
        if (one.way != other.way) return routers.by_way(router)[one.way] < routers.by_way(router)[other.way];
        const Word* const served = routers.by_input(router, one.way);
        return served[one.queue >> vc_bits_] < served[other.queue >> vc_bits_];
    }
    const Word *const sent = routers.sent(router), mine = sent[one.queue], theirs = sent[other.queue];
    return mine != theirs ? mine < theirs : one.queue < other.queue;
}

// Begin a slot: where things go that are sent in it.
template <class K>
void Worker<K>::begin_slot() {
    now_ = Records<K>::stamp(slot);
    ejected_ = slot % m.ejection_slots;
}

// Begin a turn of a slot, in which odd routers or the others send.
template <class K>
void Worker<K>::begin_turn(i64 turn) {
    const i64 box = worker_ * s.num_parts;
    step_ = step_of(turn);
    returns_[0] = s.returning.ends(step_of(0) + (m.odd ? 2 : 1), box);  // of sources, for the next slot
    for (std::size_t later = 1; later < sends_.size(); later++) {
        if (later < static_cast<std::size_t>(s.crossing.slots())) sends_[later] = s.crossing.ends(step_ + later, box);
        if (later < static_cast<std::size_t>(s.crossing.slots()) && has_extra_)
            extra_sends_[later] = s.extras.ends(step_ + later, box);
        if (later < static_cast<std::size_t>(s.returning.slots())) returns_[later] = s.returning.ends(step_ + later, box);
    }
}

// Send a packet that has been taken out of its queue: spend a credit, and note who was served.
template <class K>
inline void Worker<K>::send(Part& part, u32 node, Router& router, u32 entry, u16 queue, u16 way) {
    const i64 own = part.begin + node;
    routers.credits(router)[way]--;
    routers.sent(router)[queue] = now_;
    if constexpr (K::general) {
        if (m.rounds) {
            routers.by_way(router)[way] = now_;
            routers.by_input(router, way)[queue] = now_;
            routers.by_output(router, queue >> vc_bits_)[way >> vc_bits_] = now_;
        } else if (m.several[own]) {
            routers.by_way(router)[way] = now_;
            routers.by_input(router, way)[queue >> vc_bits_] = now_;
        }
    }
    if (queue < local_) {
        const Channel& from = ways_[queue];
        const i64 behind = m.neighbor(own, from.port);
        Credit*& end = returns_[from.credit_latency][behind >> part_bits_];
        *end++ = {static_cast<u16>(behind & place_mask_), from.mirror};
    } else {
        part.freed.push(static_cast<u16>(node));
    }
    if (way < local_) {
        const Channel& to = ways_[way];
        const i64 there = m.neighbor(own, to.port), there_part = there >> part_bits_;
        const i64 later = to.latency + (slow_ ? wait_for_wires(own, to.port) : 0);
        if (alone_) {
            part.moving[(step_ + later) & s.moving_mask].push({entry, static_cast<u16>(there & place_mask_), to.mirror});
        } else {
            const i64 box = worker_ * s.num_parts + there_part;
            Item*& end = slow_ ? s.crossing.end(step_ + later, box) : sends_[later][there_part];
            *end++ = {part.entries.packets[entry], static_cast<u16>(there & place_mask_), to.mirror};
            if (has_extra_)
                *(slow_ ? s.extras.end(step_ + later, box) : extra_sends_[later][there_part])++ =
                    part.entries.extras[entry];
            part.entries.give(entry);
        }
        progress.sent++;
    } else {
        eject(part, node, entry);
    }
}

// Let a terminal take a packet, or an ejection buffer where it may pause.
template <class K>
inline void Worker<K>::eject(Part& part, u32 node, u32 entry) {
    if (!pauses_) {
        leave(part, node, entry, (slot + 2) * m.length + m.ejection_cycles - 1);
        part.ejected[ejected_].push(static_cast<u16>(node));
    } else {
        part.leaving.push(entry);
        part.leaving_node.push(node);
    }
}

// Iterative matching, output first: outputs grant, inputs accept, in rounds. If the first round is early, packets that
// have just come take part in the second only.
template <class K>
void Worker<K>::match(Part& part, u32 node, Router& router) {
    make_requests(part, router);
    const u32 ports = static_cast<u32>(m.ports + 1);
    for (i64 round = 0; round < m.rounds; round++) {
        const std::size_t count = round ? requests.size() : old_;
        for (u32 number = 0; number < count; number++) {
            const Request& request = requests[number];
            const u32 output = request.way >> vc_bits_;
            if (winner[output] != NONE || partner[request.queue >> vc_bits_] != NONE) continue;
            if (leader[output] == NONE || goes_first(router, request, requests[leader[output]]))
                leader[output] = number;
        }
        for (u32 output = 0; output < ports; output++) {
            if (leader[output] == NONE) continue;
            const u32 input = requests[leader[output]].queue >> vc_bits_;
            const Word* const served = routers.by_output(router, input);
            if (partner[input] == NONE || served[output] < served[partner[input]]) partner[input] = output;
        }
        for (u32 output = 0; output < ports; output++) {
            if (leader[output] != NONE && partner[requests[leader[output]].queue >> vc_bits_] == output)
                winner[output] = leader[output];
            leader[output] = NONE;
        }
    }
    std::fill(partner.begin(), partner.end(), NONE);
    for (u32 output = 0; output < ports; output++)
        if (winner[output] != NONE) winner[output] = requests[winner[output]].entry;
    if (m.counting) count_slot(part, node, router);
    Link* const links = part.entries.links.begin();
    for (u32 output = 0; output < ports; output++) {
        const u32 entry = winner[output];
        if (entry == NONE) continue;
        winner[output] = NONE;
        const u16 way = links[entry].way;
        u32* where = &router.first;
        u32 before = *where;
        for (;; where = &links[*where].next) {
            before = *where;
            while (before != entry && links[before].behind != NONE && links[before].behind != entry)
                before = links[before].behind;
            if (before == entry || links[before].behind == entry) break;
        }
        const u16 queue = links[*where].queue;
        if (before == entry) {
            take_head(links, where);
        } else {
            links[before].behind = links[entry].behind;
            if (links[*where].tail == entry) links[*where].tail = before;
        }
        send(part, node, router, entry, queue, way);
    }
    u64 present = 0;
    for (u32 head = router.first; head != NONE; head = links[head].next) present |= u64{1} << (links[head].queue & 63);
    router.present = present;
}

// List the packets of a router that may be sent, those of the first round first; of a queue, in the order they came.
template <class K>
void Worker<K>::make_requests(Part& part, Router& router) {
    const Link* const links = part.entries.links.begin();
    requests.clear();
    const auto each = [&](bool is_new) {
        for (u32 head = router.first; head != NONE; head = links[head].next)
            for (u32 entry = head; entry != NONE; entry = links[entry].behind)
                if (routers.credits(router)[links[entry].way] &&
                    (m.early && part.entries.came[entry] == static_cast<u32>(slot)) == is_new)
                    requests.push({entry, links[head].queue, links[entry].way});
    };
    each(false);
    old_ = requests.size();
    if (m.early) each(true);
}

// Whether one request comes before another at the output that both want.
template <class K>
bool Worker<K>::goes_first(Router& router, const Request& one, const Request& other) const {
    if (one.way != other.way) return routers.by_way(router)[one.way] < routers.by_way(router)[other.way];
    const u32 port = one.queue >> vc_bits_, rival = other.queue >> vc_bits_, injection = static_cast<u32>(m.ports);
    const Word* const served = routers.by_input(router, one.way);
    if (port == rival) return served[one.queue] < served[other.queue];
    if (port == injection || rival == injection) {
        const bool had_its_turn = served[local_] >= Records<K>::stamp(slot - slot % TURN_SLOTS);
        return (had_its_turn ? rival : port) == injection;
    }
    return sent_by_input(router, one.way, port) < sent_by_input(router, one.way, rival);
}

// When an input has sent to a way last, by any of its queues.
template <class K>
typename K::Word Worker<K>::sent_by_input(Router& router, u32 way, u32 port) const {
    const Word* const served = routers.by_input(router, way) + (port << m.vc_bits);
    return *std::max_element(served, served + (1 << m.vc_bits));
}

// Count what a router's channels carry in a slot, which of them stall, and the packets that leave its queues: a channel
// stalls if it could carry a packet that stands at the head of a queue, but carries nothing.
template <class K>
void Worker<K>::count_slot(Part& part, u32 node, Router& router) {
    const Link* const links = part.entries.links.begin();
    const i64 own = part.begin + node, queues = own * m.queues(), channels = own * (m.ports + 2);
    u32* const told = chosen.begin();  // of outputs: whether it carries or stalls
    routers.each(router, links, [&](u32 queue, u32 head) {
        const i64 place = queues + queue;
        s.counters.most[place] = std::max(s.counters.most[place], s.counters.level[place]);
        for (u32 entry = head; entry != NONE; entry = links[entry].behind) {
            const u16 way = links[entry].way;
            if (winner[way >> vc_bits_] != entry) continue;
            s.counters.sent[(channels << m.vc_bits) + way]++;
            s.counters.held[place] += slot + 1;
            s.counters.level[place]--;
        }
    });
    routers.each(router, links, [&](u32, u32 head) {
        for (u32 entry = head; entry != NONE; entry = m.rounds ? links[entry].behind : NONE) {
            const u32 output = links[entry].way >> vc_bits_;
            if (winner[output] == NONE && told[output] == NONE) {
                s.counters.stalled[channels + output]++;
                told[output] = 0;
            }
        }
    });
    std::fill(chosen.begin(), chosen.end(), NONE);
}

}  // namespace hdnhw

#include "terminal.hpp"
#include "ways.hpp"
