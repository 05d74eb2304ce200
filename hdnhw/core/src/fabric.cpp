#include "fabric.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include "worker.hpp"

namespace hdnhw {

namespace {

constexpr i64 PART_BYTES = 3 << 16;     // most that the routers and sources of a part take of a cache
constexpr i64 MOST_OF_PART = 1 << 16;   // nodes, whose numbers have 16 bits there
constexpr i64 SMALL_NODES = 16384;      // of a network whose routers are small, most
constexpr i64 MANY_PARTS = 256;         // above which they are larger: mail for each stands in pages of its own
constexpr i64 PARTS_A_THREAD = 8;       // fewest, if there are several threads, so that they have about as much to do
constexpr i64 STRETCH = 4096;           // cycles that are drawn at a time, most
constexpr i64 NEVER = i64{1} << 62;   // so many packets never leave
constexpr int PATIENCE = 2000;          // looks at whether the others have come before the processor is given to others
constexpr std::chrono::microseconds NAP{20};

}  // namespace

// Wait until all threads have come. What one has written before is there for the others then, and what they read in a
// slot was written before it: they need no other order.
template <class K>
void Worker<K>::meet() {
    if (m.threads == 1) return;
    meeting_++;
    s.meetings.fetch_add(1, std::memory_order_acq_rel);
    for (int looks = 0; s.meetings.load(std::memory_order_acquire) < meeting_ * m.threads; looks++) {
        if (s.failed) throw std::bad_alloc();
        if (looks <= PATIENCE) continue;
        if (m.ranks == 1)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(NAP);  // one exchanges with other ranks
    }
}

// Meet; return how many packets all workers have seen leave or be dropped, of which this one has seen `gone`; those of
// other ranks only if that `counts`. Mail for a step must be there then, or for none if that is -1.
template <class K>
i64 Worker<K>::seen_gone(i64 gone, i64 step, bool counts) {
    if (workers_ == 1) return gone;
    i64* const row = s.gone.begin() + (meeting_ & 1) * m.threads;
    row[thread_] = gone;
    meet();
    i64 total = 0;
    for (i64 thread = 0; thread < m.threads; thread++) total += row[thread];
    if (m.ranks == 1) return total;
    exchange(step, total, counts);
    return counts ? s.all_gone : total;
}

// Let one thread exchange with the other ranks what has to be, when all of them have met.
template <class K>
void Worker<K>::exchange(i64 step, i64 gone, bool counts) {
    const bool is_due = step >= exchanged_;
    if (!is_due && !counts) return;
    if (thread_ == 0) s.all_gone = s.exchange(is_due ? step : -1, gone);
    if (is_due) exchanged_ = step + s.lookahead;
    meet();
}

// Go on until `packets` packets have left or been dropped since reset, or cycle `limit` is reached. Terminals that
// never pause are worked on once a slot: then `limit` must be in the sample phase if the run is to go on, and tails are
// told that are still on their way to the terminal.
template <class K>
void Worker<K>::run(i64 packets, i64 limit) {
    const bool plain = !m.pauses(), counts = packets < NEVER;
    const i64 last_turn = m.odd ? 1 : 0;
    meeting_ = 0;
    cycle = s.cycle, slot = s.slot;
    while (cycle < limit) {
        const i64 phase = cycle % m.length;
        const bool samples = phase == m.sample;
        if (seen_gone(progress.left + progress.lost, samples ? step_of(0) : -1, counts) >= packets) break;
        const i64 end = plain ? cycle + (m.sample - phase - 1 + m.length) % m.length : cycle;
        const i64 last = samples ? last_turn : 0;
        begin_slot();
        for (i64 turn = 0; turn <= last; turn++) {
            if (turn) {
                meet();
                if (m.ranks > 1) exchange(step_of(turn), 0, false);
            }
            begin_turn(turn);
            for (i64 number = begin_; number < end_; number++) {
                Part& part = s.parts[number];
                if (samples) work_slot(part, turn, plain);
                if (turn != last) continue;
                if (plain)
                    work_terminals(part, samples, end, limit);
                else
                    work_cycle(part, samples, cycle);
            }
        }
        slot += samples;
        cycle = end + 1;
    }
}

template <class K>
class FabricOf : public Fabric {
   public:
    explicit FabricOf(const Machine& given) : s_(given), m_(s_.machine) {
        s_.routers.make(m_);
        make_parts();
        s_.routers.reset(m_, begin_, end_);
        make_mail();
        if (m_.counting) {
            reset(s_.counters.sent, (m_.ports + 2) << m_.vc_bits);
            reset(s_.counters.stalled, m_.ports + 2);
            reset(s_.counters.held, m_.queues());
            reset(s_.counters.level, m_.queues());
            reset(s_.counters.most, m_.queues());
        }
        reset(s_.dropped, 1);
        if (m_.scheme == UGAL) s_.chosen.assign(3 * m_.nodes, -1);
        bool slow = false;
        for (i64 port = 0; port < m_.ports; port++) slow |= m_.interval[port] > 1;
        if (slow) reset(s_.next_free, m_.ports);
        for (i64 thread = 0; thread < m_.threads; thread++) workers_.push(new Worker<K>(s_, thread));
    }
    ~FabricOf() override {
        for (Worker<K>* worker : workers_) delete worker;
    }

    void advance(const i64* cycle, const i32* node, const i32* destination, const i32* tag, const i32* pace, i64 count,
                 i64 packets, i64 limit) override {
        for (i64 k = s_.begin; k < s_.end; k++) s_.parts[k].arrivals.clear(), s_.parts[k].offered = 0;
        for (i64 k = 0; k < count; k++)
            if (begin_ <= node[k] && node[k] < end_)
                s_.parts[node[k] >> s_.part_bits].arrivals.push(
                    {destination[k], static_cast<i32>(cycle[k]), tag[k], pace ? pace[k] : i32{ANYWHERE},
                     static_cast<u32>(node[k] & (s_.nodes_of_part - 1))});
        for (Worker<K>* worker : workers_) worker->out.clear();
        if (s_.ledger) s_.ledger->open(limit);
        s_.meetings = 0;
        s_.gone.assign(2 * m_.threads, 0);
        const auto work = [this, packets, limit](i64 thread) {
            try {
                workers_[thread]->run(packets, limit);
            } catch (const std::exception&) {
                s_.failed = true;  // the others must not wait for this one
            }
        };
        std::vector<std::thread> others;
        for (i64 thread = 1; thread < m_.threads; thread++) others.emplace_back(work, thread);
        work(0);
        for (std::thread& other : others) other.join();
        if (s_.failed) throw std::bad_alloc();
        s_.cycle = workers_[0]->cycle, s_.slot = workers_[0]->slot;
        if (!s_.ledger) return;
        if (m_.ranks > 1 && in_pieces_) bring_pieces();
        s_.ledger->close();
    }

    void load(const Traffic* traffic, i64 first, Ledger* ledger) override {
        s_.origin = first, s_.ledger = ledger;
        for (i64 k = 0; k < traffic->lengths; k++) in_pieces_ |= traffic->flits[k] > m_.length;
        // Messages of a sender in a stretch, about.
        const double messages = K::small ? 2 : 0.25;
        s_.stretch = std::clamp<i64>(static_cast<i64>(messages / (traffic->peak * traffic->on + 1e-9)), 8, STRETCH);
        const i32* const senders = traffic->sender;
        for (i64 k = s_.begin; k < s_.end; k++) {
            Part& part = s_.parts[k];
            const auto place = [&](i64 node) {
                return std::lower_bound(senders, senders + traffic->senders, node) - senders;
            };
            part.creation.make(*traffic, place(part.begin), place(part.begin + part.size));
            part.created.clear();
            part.begun = 0;
            part.known = first;
        }
    }

    i64 rows(i32* out) override {
        i64 count = 0, place = 0;
        for (Worker<K>* worker : workers_) count += static_cast<i64>(worker->out.size());
        for (std::size_t thread = 0; out && thread < workers_.size(); thread++)
            for (const Row& row : workers_[thread]->out) {
                const i32 words[] = {row.destination, row.created, row.head, row.tag, row.hops, row.tail, row.node};
                for (i64 word = 0; word < 7; word++) out[word * count + place] = words[word];
                place++;
            }
        return count;
    }

    i64 found(i32* out) override {
        i64 count = 0;
        each([&](const Found& row) {
            if (out) std::memcpy(out + 11 * count, &row, sizeof(Found));
            count++;
        });
        return count;
    }

    i64 waiting(i32* out) override {
        i64 count = 0;
        each_coming([&](i64 node, i64 way) { s_.routers.credits(s_.routers[node])[way]++; });
        each([&](const Found& row) {
            if (row.where != QUEUED || row.place || row.way >= m_.local()) return;
            if (s_.routers.credits(s_.routers[row.node])[row.way]) return;
            if (out) std::memcpy(out + 11 * count, &row, sizeof(Found));
            count++;
        });
        each_coming([&](i64 node, i64 way) { s_.routers.credits(s_.routers[node])[way]--; });
        return count;
    }

    bool farthest(i32* out) override {
        i32 most = -1;
        each([&](const Found& row) {
            if (row.where == LOST || row.hops <= most) return;
            most = row.hops;
            std::memcpy(out, &row, sizeof(Found));
        });
        return most >= 0;
    }

    // Tell of each packet that has not left.
    template <class Do>
    void each(Do&& act) {
        const auto tell = [&](const Packet& packet, Where where, i64 node, i32 queue, i32 way, i32 place, i32 by) {
            act(Found{packet.destination, packet.created, packet.head, packet.tag, static_cast<i32>(packet.hops), where,
                      static_cast<i32>(node), queue, way, place, by});
        };
        for (i64 k = s_.begin; k < s_.end; k++) {
            Part& part = s_.parts[k];
            const auto by = [&](u32 entry) { return m_.is_drawn() ? part.entries.extras[entry].by : i32{STRAIGHT}; };
            for (u32 node = 0; node < part.size; node++) {
                const i64 own = part.begin + node;
                const Link* const links = part.entries.links.begin();
                i32 place = 0;
                for (u32 entry = part.sources[node].first; entry != NONE; entry = links[entry].next)
                    tell(part.entries.packets[entry], WAITING, own, -1, -1, place++, by(entry));
                s_.routers.each(s_.routers[own], links, [&](u32 queue, u32 entry) {
                    for (place = 0; entry != NONE; entry = links[entry].behind)
                        tell(part.entries.packets[entry], QUEUED, own, static_cast<i32>(queue), links[entry].way,
                             place++, by(entry));
                });
                if (!m_.pauses()) continue;
                const Sink& sink = part.sinks[node];
                for (u32 level = 0; level < sink.level; level++) {
                    const u32 entry =
                        part.stored[node * m_.ejection_buffers + (sink.first + level) % m_.ejection_buffers];
                    tell(part.entries.packets[entry], LEAVING, own, -1, -1, static_cast<i32>(level), by(entry));
                }
            }
            for (i64 slot = 0; slot <= s_.moving_mask; slot++)
                for (const Moving& moving : part.moving[slot])
                    tell(part.entries.packets[moving.entry], CROSSING, part.begin + moving.node, moving.queue, -1, 0,
                         by(moving.entry));
            for (std::size_t number = 0; number < part.lost.size(); number++)
                tell(part.lost[number], LOST, part.begin + part.lost_node[number], -1, -1, 0, STRAIGHT);
        }
        for (i64 slot = 0; slot < s_.crossing.slots(); slot++)
            for (i64 box = 0; box < m_.workers() * s_.num_parts; box++)
                for (u32 k = 0; k < s_.crossing.length(slot, box); k++) {
                    const Item& item = s_.crossing.begin(slot, box)[k];
                    const i32 by = m_.is_drawn() ? s_.extras.begin(slot, box)[k].by : i32{STRAIGHT};
                    const i64 node = (box % s_.num_parts << s_.part_bits) + item.node;
                    tell(item.packet, CROSSING, node, item.queue, -1, 0, by);
                }
    }

    void credits(i32* out, bool coming) override {
        const i64 queues = m_.queues();
        for (i64 node = begin_; node < end_; node++)
            for (i64 way = 0; way < queues; way++) out[node * queues + way] = s_.routers.credits(s_.routers[node])[way];
        if (coming) each_coming([&](i64 node, i64 way) { out[node * queues + way]++; });
    }

    // Tell node and way of each credit that is on its way.
    template <class Do>
    void each_coming(Do&& act) {
        for (i64 slot = 0; slot < s_.returning.slots(); slot++)
            for (i64 box = 0; box < m_.workers() * s_.num_parts; box++)
                for (u32 k = 0; k < s_.returning.length(slot, box); k++) {
                    const Credit& credit = s_.returning.begin(slot, box)[k];
                    if (credit.way >= m_.queues()) continue;  // of a source
                    act((box % s_.num_parts << s_.part_bits) + credit.node, credit.way);
                }
        for (i64 k = s_.begin; k < s_.end; k++)
            for (i64 slot = 0; slot < m_.ejection_slots; slot++)
                for (u16 node : s_.parts[k].ejected[slot]) act(s_.parts[k].begin + node, m_.local());
    }

    void set_credits(const i32* credits) override {
        using Word = typename K::Word;
        for (i64 node = begin_; node < end_; node++)
            for (i64 way = 0; way < m_.queues(); way++)
                s_.routers.credits(s_.routers[node])[way] = static_cast<Word>(credits[node * m_.queues() + way]);
    }

    void put(i64 node, i32 queue, i32 way, i32 tag) override {
        Part& part = s_.parts[node >> s_.part_bits];
        const u32 entry = part.entries.take();
        part.entries.packets[entry] = {0, 0, 0, tag, 0};
        if (m_.early) part.entries.came[entry] = static_cast<u32>(s_.slot);
        Link* const links = part.entries.links.begin();
        s_.routers.push(links, s_.routers[node], entry, static_cast<u16>(queue), static_cast<u16>(way));
        part.busy.add(static_cast<u32>(node - part.begin));
    }

    void step(i64 node, i64 slot, bool starts_epoch) override {
        Part& part = s_.parts[node >> s_.part_bits];
        if (starts_epoch) s_.routers.start_epoch(s_.routers[node]);
        workers_[0]->step(part, slot);
        s_.slot = slot + 1;
        for (i64 k = 0; k <= s_.moving_mask; k++) part.moving[k].clear();
        for (i64 k = 0; k < m_.ejection_slots; k++) part.ejected[k].clear();
        part.freed.clear();
        for (i64 k = 0; k < s_.returning.slots(); k++) s_.returning.end(k, 0) = s_.returning.begin(k, 0);
    }

    void numbers(i64* out) override {
        std::fill(out, out + 8, 0);
        out[0] = s_.cycle, out[1] = s_.slot;
        for (Worker<K>* worker : workers_) {
            out[2] = std::max(out[2], worker->progress.ended);
            out[3] += worker->progress.sent;
            out[4] += worker->progress.lost;
            out[5] += worker->progress.left;
            out[6] += worker->progress.offered;
        }
        for (i64 k = s_.begin; k < s_.end; k++) out[7] |= s_.parts[k].busy.any();
    }

    void sources(i64* dropped, i32* sending, i32* position) override {
        for (i64 k = s_.begin; k < s_.end; k++)
            for (i64 node = 0; node < s_.parts[k].size; node++) {
                const Source& source = s_.parts[k].sources[node];
                const i64 own = s_.parts[k].begin + node;
                dropped[own] = s_.dropped[own];
                sending[own] = source.first != NONE;
                position[own] = source.position;
            }
    }

    void sinks(i64* tag, i64* taken) override {
        for (i64 k = s_.begin; k < s_.end; k++)
            for (i64 node = 0; node < s_.parts[k].size; node++) {
                const Part& part = s_.parts[k];
                const Sink& sink = part.sinks[node];
                tag[part.begin + node] =
                    sink.level ? part.entries.packets[part.stored[node * m_.ejection_buffers + sink.first]].tag : -1;
                taken[part.begin + node] = sink.taken;
            }
    }

    void counts(i64* sent, i64* stalled, i64* held, i64* most) override {
        const Counters& counters = s_.counters;
        if (!m_.counting) return;
        const i64 channels = m_.ports + 2, queues = m_.queues();
        std::copy(counters.sent.begin() + (begin_ * channels << m_.vc_bits),
                  counters.sent.begin() + (end_ * channels << m_.vc_bits), sent + (begin_ * channels << m_.vc_bits));
        std::copy(counters.stalled.begin() + begin_ * channels, counters.stalled.begin() + end_ * channels,
                  stalled + begin_ * channels);
        for (i64 k = begin_ * queues; k < end_ * queues; k++)
            held[k] = counters.held[k] + counters.level[k] * s_.slot;
        std::copy(counters.most.begin() + begin_ * queues, counters.most.begin() + end_ * queues, most + begin_ * queues);
    }

   private:
    // Begin a list of what nodes have, so many each; places of nodes of other ranks take no memory.
    template <class T>
    void reset(List<T>& list, i64 each) {
        list.resize(m_.nodes * each);
        std::fill(list.begin() + begin_ * each, list.begin() + end_ * each, T{0});
    }

    // Bring packets of messages of several that have left here to the ranks of their sources.
    void bring_pieces() {
        const auto each = [&](auto&& act) {
            for (i64 thread = 0; thread < m_.threads; thread++)
                for (const Ledger::Left& left : s_.ledger->pieces(thread)) act(left, left.row.source() >> s_.part_bits);
        };
        List<Ledger::Left> out, own;
        each([&](const Ledger::Left& left, i64 part) {
            if (s_.begin <= part && part < s_.end) own.push(left);
        });
        s_.post.exchange(
            m_, 0,
            [&](i64 rank) {
                const i64 begin = s_.first_part(rank * m_.threads), end = s_.first_part((rank + 1) * m_.threads);
                out.clear();
                each([&](const Ledger::Left& left, i64 part) {
                    if (begin <= part && part < end) out.push(left);
                });
                s_.post.put(out.begin(), static_cast<u32>(out.size()));
            },
            [&](i64) {
                const std::size_t before = own.size();
                own.resize(before + s_.post.coming());
                s_.post.get(own.begin() + before);
            });
        for (i64 thread = 0; thread < m_.threads; thread++) s_.ledger->pieces(thread).clear();
        for (const Ledger::Left& left : own) s_.ledger->pieces(0).push(left);
    }

    void make_parts() {
        const i64 of_node = static_cast<i64>(s_.routers.stride()) + 2 * static_cast<i64>(sizeof(Source));
        i64 most = std::clamp<i64>(std::max(PART_BYTES / of_node, m_.nodes / MANY_PARTS), 1, MOST_OF_PART);
        const i64 workers = m_.workers();
        if (workers > 1) most = std::min(most, std::max<i64>(1, m_.nodes / (PARTS_A_THREAD * workers)));
        if (m_.part_nodes) most = std::min(most, m_.part_nodes);
        if (K::small) most = m_.nodes;
        while ((i64{2} << s_.part_bits) <= most) s_.part_bits++;
        if (most >= m_.nodes)
            while ((i64{1} << s_.part_bits) < m_.nodes) s_.part_bits++;
        s_.nodes_of_part = i64{1} << s_.part_bits;
        s_.num_parts = (m_.nodes + s_.nodes_of_part - 1) >> s_.part_bits;
        s_.parts = new Part[s_.num_parts];
        s_.begin = s_.first_part(m_.rank * m_.threads), s_.end = s_.first_part((m_.rank + 1) * m_.threads);
        begin_ = s_.begin << s_.part_bits, end_ = std::min(m_.nodes, s_.end << s_.part_bits);
        for (i64 port = 0; port < m_.ports; port++) latest_ = std::max<i64>(latest_, m_.latest(port));
        while (s_.moving_mask < latest_) s_.moving_mask = 2 * s_.moving_mask + 1;
        for (i64 k = s_.begin; k < s_.end; k++) {
            Part& part = s_.parts[k];
            part.number = k;
            part.begin = k << s_.part_bits;
            part.moving = new List<Moving>[s_.moving_mask + 2];
            part.size = std::min(s_.nodes_of_part, m_.nodes - part.begin);
            part.entries.begin(part.size + 16, m_.has_extra(), m_.early,
                               m_.scheme == ADAPTIVE ? m_.adaptive_words() : 0);
            part.busy.make(part.size);
            part.sending.make(part.size);
            part.ejected = new List<u16>[m_.ejection_slots];
            part.sources.assign(part.size, {NONE, NONE, 0, 0, 0});
            if (!m_.pauses()) continue;
            part.sinks.assign(part.size, {0, 0, 0});
            part.stored.assign(part.size * m_.ejection_buffers, NONE);
            part.ready.assign(part.size * m_.ejection_buffers, 0);
            part.generators.resize(part.size);
            std::copy_n(m_.generators + part.begin, part.size, part.generators.begin());
        }
    }

    // A worker has as many channels to a part as the part has to the worker: mail of both kinds has room for as much.
    // There is none between two workers of other ranks.
    void make_mail() {
        s_.first.assign(m_.workers() * s_.num_parts, 0);
        List<i64> worker;  // axis (part)
        for (i64 k = 0, at = 0; k < s_.num_parts; k++) {
            while (s_.first_part(at + 1) <= k) at++;
            worker.push(at);
        }
        u64 room = 0;
        for (i64 node = begin_; node < end_; node++)
            for (i64 port = 0; port < m_.ports; port++) {
                const i64 there = m_.neighbor(node, port);
                if (there < 0) continue;
                const i64 part = node >> s_.part_bits, there_part = there >> s_.part_bits;
                s_.first[worker[part] * s_.num_parts + there_part]++;
                if (there_part < s_.begin || there_part >= s_.end) s_.first[worker[there_part] * s_.num_parts + part]++;
            }
        for (u64& begin : s_.first) {
            const u64 channels = begin + (K::small ? static_cast<u64>(m_.nodes) : 0);  // and credits of sources
            begin = room;
            room += channels + AHEAD;
        }
        i64 latest_credit = m_.odd ? 2 : 1;
        s_.lookahead = latest_;
        for (i64 port = 0; port < m_.ports; port++) {
            const i64 back = m_.credit_latency[port];
            latest_credit = std::max<i64>(latest_credit, back);
            s_.lookahead = std::min<i64>({s_.lookahead, m_.latency[port], back});
        }
        const i64 boxes = m_.workers() * s_.num_parts;
        s_.crossing.make(s_.first, room, latest_, boxes);
        if (m_.has_extra()) s_.extras.make(s_.first, room, latest_, boxes);
        s_.returning.make(s_.first, room, latest_credit, boxes);
    }

    Shared<K> s_;
    const Machine& m_;
    List<Worker<K>*> workers_;
    i64 begin_ = 0, end_ = 0;  // nodes of this rank
    i64 latest_ = 1;           // slots that a packet takes over a channel at most
    bool in_pieces_ = false;   // whether a message of the load may have several packets
};

}  // namespace hdnhw

using namespace hdnhw;

HDNHW_API i64 fabric_make(const Machine* machine, void** made) {
    return guarded([&] {
        bool bytes = machine->rounds == 0;
        for (i64 way = 0; way < machine->queues(); way++) bytes &= machine->room[way] < 256;
        const bool small = bytes && machine->vc_bits <= 1 && machine->ports < 8 && machine->injection_buffers < 256 &&
                           machine->scheme != ADAPTIVE && machine->workers() == 1 && !machine->part_nodes &&
                           machine->nodes <= SMALL_NODES;
        const bool plain = bytes && machine->vc_bits == 0 && machine->queues() < Records<Plain>::EPOCH;
        Fabric* fabric;
        if (small && machine->vc_bits)
            fabric = new FabricOf<Small<1>>(*machine);
        else if (small)
            fabric = new FabricOf<Small<0>>(*machine);
        else if (plain)
            fabric = new FabricOf<Plain>(*machine);
        else
            fabric = new FabricOf<General>(*machine);
        *made = fabric;
    });
}
HDNHW_API void fabric_free(void* fabric) { delete static_cast<Fabric*>(fabric); }
HDNHW_API i64 fabric_advance(void* fabric, const i64* cycle, const i32* node, const i32* destination, const i32* tag,
                             const i32* pace, i64 count, i64 packets, i64 limit) {
    return guarded([&] {
        static_cast<Fabric*>(fabric)->advance(cycle, node, destination, tag, pace, count, packets, limit);
    });
}
HDNHW_API i64 fabric_load(void* fabric, const Traffic* traffic, i64 first, void* ledger) {
    return guarded([&] { static_cast<Fabric*>(fabric)->load(traffic, first, static_cast<Ledger*>(ledger)); });
}
HDNHW_API i64 fabric_rows(void* fabric, i32* out) { return static_cast<Fabric*>(fabric)->rows(out); }
HDNHW_API i64 fabric_found(void* fabric, i32* out) { return static_cast<Fabric*>(fabric)->found(out); }
HDNHW_API i64 fabric_waiting(void* fabric, i32* out) { return static_cast<Fabric*>(fabric)->waiting(out); }
HDNHW_API i64 fabric_farthest(void* fabric, i32* out) { return static_cast<Fabric*>(fabric)->farthest(out); }
HDNHW_API void fabric_credits(void* fabric, i32* out, i64 coming) {
    static_cast<Fabric*>(fabric)->credits(out, coming != 0);
}
HDNHW_API void fabric_set_credits(void* fabric, const i32* credits) {
    static_cast<Fabric*>(fabric)->set_credits(credits);
}
HDNHW_API void fabric_put(void* fabric, i64 node, i64 queue, i64 way, i64 tag) {
    static_cast<Fabric*>(fabric)->put(node, static_cast<i32>(queue), static_cast<i32>(way), static_cast<i32>(tag));
}
HDNHW_API void fabric_step(void* fabric, i64 node, i64 slot, i64 starts_epoch) {
    static_cast<Fabric*>(fabric)->step(node, slot, starts_epoch != 0);
}
HDNHW_API void fabric_numbers(void* fabric, i64* out) { static_cast<Fabric*>(fabric)->numbers(out); }
HDNHW_API void fabric_sources(void* fabric, i64* dropped, i32* sending, i32* position) {
    static_cast<Fabric*>(fabric)->sources(dropped, sending, position);
}
HDNHW_API void fabric_sinks(void* fabric, i64* tag, i64* taken) { static_cast<Fabric*>(fabric)->sinks(tag, taken); }
HDNHW_API void fabric_counts(void* fabric, i64* sent, i64* stalled, i64* held, i64* most) {
    static_cast<Fabric*>(fabric)->counts(sent, stalled, held, most);
}
