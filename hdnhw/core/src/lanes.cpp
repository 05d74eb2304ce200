// Many simulations of one small machine at once, each in a lane of vectors: the same slot of the same router, for
// other loads. A byte has a bit for each way or queue of a router, so what is done for one is done for all of them.
#include "lanes.hpp"

#include <memory>

#include "fabric.hpp"

namespace hdnhw {

namespace {

constexpr i64 STRETCH = 64;      // slots whose messages are drawn at a time, so few that a wait of all fits into a byte
constexpr i32 LONG_AGO = -1000;  // a slot
constexpr u32 FEW = 16;           // messages that a sender has room for at first
constexpr std::size_t BATCH = 32;
constexpr u8 HERE = 255;         // the way of a packet that is ejected; of others a single bit, 0 without packet

class Lanes {
   public:
    virtual ~Lanes() = default;
    virtual void reset(i64 lane) = 0;  // with no load
    virtual void load(i64 lane, const Traffic* traffic, i64 first, Ledger* ledger) = 0;
    virtual void advance(i64 slots) = 0;           // allocate so many in all lanes
    virtual i64 rows(i64 lane, i32* out) = 0;      // as those of Fabric
    virtual i64 found(i64 lane, i32* out) = 0;     // of packets in queues alone
    virtual void credits(i64 lane, i32* out) = 0;  // with those that are on their way
    virtual void numbers(i64 lane, i64* out) = 0;  // slots, sent, left, offered, whether a router holds a packet
};

// By the number of slots from the first one on.
template <class T>
class Ring {
   public:
    void make(i64 latest, i64 size) {
        while (mask_ < latest) mask_ = 2 * mask_ + 1;
        size_ = size;
        memory_.make((mask_ + 1) * size * sizeof(T));
    }
    T* at(i64 slot) { return memory_.as<T>() + (slot & mask_) * size_; }
    Plane* planes() { return memory_.as<Plane>(); }
    i64 num_planes() const { return (mask_ + 1) * size_ * static_cast<i64>(sizeof(T) / sizeof(Plane)); }

   private:
    Pages memory_;
    i64 mask_ = 0, size_ = 0;
};

// A packet in each lane: where it goes, and its number in two bytes.
struct Named {
    Plane to, low, high;
};
struct Held {
    Named packet;
    Plane way;
};

struct About {
    i32 created, head;
    u8 source, destination;
};

struct Drawn {
    i32 created, destination;
};

// What a node sends in a lane. Its packets are prepared one after the other, each when the one before has left the
// router: then it is known when the next one is accepted, and in which slot it can leave at the soonest.
struct Sender {
    Drawn* waiting;         // not prepared from `begin` to `end`
    u32 begin, end, room;
    i32 accepted;           // slot of the last that is prepared
    u16 place;              // in `gone`, of the last but as many as there are buffers
    bool idle;              // none is prepared
    i32 gone[];             // axis (buffer of injection): slots in which packets left it
};

struct alignas(64) Lane {
    i64 origin = 0;  // slot in which it began
    i64 spare = 0, left = 0;
    std::size_t num_last = 0;
    List<About> about;      // by the number of a packet
    List<u16> free;         // numbers, the first `spare` of which no packet has
    Row left_last[BATCH];   // packets that are not in the ledger
    List<Row> out;          // without a ledger
    Creation creation;
    Ledger* ledger = nullptr;
    i64 first = 0;  // cycle 0 of the traffic
    i64 sent = 0, offered = 0;
    bool loaded = false;
};

// PORTS << VC bits is 8 at most. With two virtual channels an output remembers whom it served by its ways, else an
// input remembers when it was served.
template <int PORTS, int VCS>
class LanesOf final : public Lanes {
    static constexpr int INPUTS = PORTS + 1, INJECTION = PORTS, WAYS = PORTS * VCS;

    struct Router {
        Plane before[INPUTS * PORTS / 2];  // of inputs i < j, j after j: by ways, whether i comes before j
        Plane ejects[INPUTS];              // with two virtual channels: those that come before at ejection
        Plane ejection;                    // its credits
        Plane second_in, second_out;       // bit port * VCS: whether the second virtual channel has waited longer
        Held first;                        // at injection
        Plane wait;                        // slots until that can leave
    };
    struct Sent {
        Named packets[PORTS];
        Plane ways;
    };
    struct Freed {
        Plane queues, ejection;
    };

   public:
    explicit LanesOf(const Machine& machine, const List<u8>& ways, const List<u8>& hops) : m_(machine) {
        for (i64 way = 0; way < WAYS; way++) depth_ = std::max<i64>(depth_, m_.room[way]);
        capacity_ = m_.nodes * (WAYS * depth_ + 1);
        blocks_ = static_cast<int>((m_.nodes + 15) / 16);
        table_.make(m_.nodes * blocks_ * 16);
        hops_.resize(m_.nodes * m_.nodes);
        std::copy(hops.begin(), hops.end(), hops_.begin());
        for (i64 node = 0; node < m_.nodes; node++)
            std::copy_n(ways.begin() + node * m_.nodes, m_.nodes, table_.as<u8>() + node * blocks_ * 16);
        i64 latest = m_.ejection_slots;
        neighbors_.resize(m_.nodes * PORTS);
        for (i64 port = 0; port < PORTS; port++) {
            opposite_[port] = m_.mirror[port * VCS] / VCS;
            latest = std::max({latest, static_cast<i64>(m_.latency[port]), static_cast<i64>(m_.credit_latency[port])});
            for (i64 node = 0; node < m_.nodes; node++)
                neighbors_[node * PORTS + port] = static_cast<i32>(m_.neighbor(node, port));
        }
        sent_.make(latest, m_.nodes);
        freed_.make(latest, m_.nodes);
        stride_ = static_cast<i64>(sizeof(Router) / sizeof(Plane)) + 2 * depth_ + 4 * WAYS * depth_;
        routers_.make(m_.nodes * stride_ * sizeof(Plane));
        sender_bytes_ = (sizeof(Sender) + m_.injection_buffers * sizeof(i32) + 63) / 64 * 64;
        senders_.make(m_.nodes * LANES * sender_bytes_);
        few_.make(m_.nodes * LANES * FEW * sizeof(Drawn));
        for (i64 lane = 0; lane < LANES; lane++) reset(lane);
    }

    ~LanesOf() override {
        for (i64 lane = 0; lane < LANES; lane++) reset(lane);
    }

    void reset(i64 lane) override {
        const auto clear = [lane](Plane* planes, i64 count) {
            for (i64 k = 0; k < count; k++) reinterpret_cast<u8*>(planes + k)[lane] = 0;
        };
        const auto set = [lane](Plane& plane, i64 byte) { set_byte(plane, lane, byte); };
        clear(sent_.planes(), sent_.num_planes());
        clear(freed_.planes(), freed_.num_planes());
        clear(routers_.template as<Plane>(), m_.nodes * stride_);
        for (i64 node = 0; node < m_.nodes; node++) {
            Router& router = router_at(node);
            for (Plane& before : router.before) set(before, 255);
            for (int input = 0; input < INPUTS; input++) set(router.ejects[input], (1 << input) - 1);
            set(router.ejection, m_.room[WAYS]);
            for (i64 level = 0; level < depth_; level++) {
                int free = 0;
                for (int way = 0; way < WAYS; way++) free |= (m_.room[way] > level) << way;
                set(credits_of(node)[level], free);
            }
            Sender& sender = sender_at(node, lane);
            if (sender.room > FEW) std::free(sender.waiting);
            sender = {few_at(node, lane), 0, 0, FEW, LONG_AGO, 0, true};
            std::fill_n(sender.gone, m_.injection_buffers, LONG_AGO);
        }
        set(phase_, 0);
        Lane& own = lanes_[lane];
        own.ledger = nullptr, own.origin = slot_, own.sent = own.left = own.offered = 0, own.loaded = false;
        own.out.clear();
        own.num_last = 0;
        own.about.resize(capacity_);
        own.free.resize(capacity_);
        own.spare = capacity_;
        for (i64 number = 0; number < capacity_; number++) own.free[number] = static_cast<u16>(capacity_ - 1 - number);
    }

    void load(i64 lane, const Traffic* traffic, i64 first, Ledger* ledger) override {
        Lane& own = lanes_[lane];
        own.creation.make(*traffic, 0, traffic->senders);
        own.first = first, own.ledger = ledger, own.loaded = true;
    }

    void advance(i64 slots) override {
        const i64 end = slot_ + slots;
        for (Lane& lane : lanes_)
            if (lane.ledger) lane.ledger->open((end - lane.origin) * m_.length + m_.sample);
        do {
            const i64 stop = std::min(end, slot_ + STRETCH);
            draw(stop);  // before the first slot there are messages, too
            for (; slot_ < stop; slot_++) {
                phase_ = (phase_ + all(1)) & all(CLASS_SLOTS - 1);
                turn_ = m_.lane_bits ? all(255) : is_none(phase_);
                for (i64 node = 0; node < m_.nodes; node++) {
                    work(node);
                    if (node % 31 == 30) note_hops();  // of a router 8 at most: a byte holds those of 31
                }
                note_hops();
            }
        } while (slot_ < end);
        for (Lane& lane : lanes_) enter_left(lane);
    }

    i64 rows(i64 lane, i32* out) override {
        const List<Row>& rows = lanes_[lane].out;
        if (out && rows.size()) std::memcpy(out, rows.begin(), rows.size() * sizeof(Row));
        if (out) lanes_[lane].out.clear();
        return static_cast<i64>(rows.size());
    }

    i64 found(i64 lane, i32* out) override {
        i64 count = 0;
        const auto tell = [&](const Held& held, i64 node, i64 queue, i64 place) {
            const u8 way = held.way[lane];
            const About& about = lanes_[lane].about[held.packet.low[lane] | held.packet.high[lane] << 8];
            const auto from = [&](i64 begin) { return hops_[begin * m_.nodes + about.destination]; };
            const Found row{m_.address[about.destination], about.created, about.head,
                            about.source << Row::SOURCE | Row::ALONE, from(about.source) - from(node), QUEUED,
                            static_cast<i32>(node), static_cast<i32>(queue), way == HERE ? WAYS : lowest(way),
                            static_cast<i32>(place), STRAIGHT};
            if (out) std::memcpy(out + 11 * count, &row, sizeof(Found));
            count++;
        };
        for (i64 node = 0; node < m_.nodes; node++) {
            for (i64 queue = 0; queue < WAYS; queue++)
                for (i64 place = 0; place < depth_ && levels_of(node)[place][lane] >> queue & 1; place++)
                    tell(queue_of(node, queue)[place], node, queue, place);
            const Router& router = router_at(node);
            if (router.first.way[lane] && router.wait[lane] <= 1) tell(router.first, node, WAYS, 0);
        }
        return count;
    }

    void credits(i64 lane, i32* out) override {
        std::fill_n(out, m_.nodes * m_.queues(), 0);
        for (i64 node = 0; node < m_.nodes; node++) {
            i32* const own = out + node * m_.queues();
            for (i64 level = 0; level < depth_; level++) add_bits(credits_of(node)[level][lane], own);
            own[WAYS] = router_at(node).ejection[lane];
            for (i64 slot = slot_ - m_.ejection_slots; slot < slot_; slot++)
                if (slot >= 0) own[WAYS] += freed_.at(slot)[node].ejection[lane] & 1;
            for (int port = 0; port < PORTS; port++) {
                const i64 there = neighbors_[node * PORTS + port];
                for (i64 slot = slot_ - m_.credit_latency[port]; there >= 0 && slot < slot_; slot++)
                    if (slot >= 0) add_bits(of_port(freed_.at(slot)[there].queues, opposite_[port], port)[lane], own);
            }
        }
    }

    void numbers(i64 lane, i64* out) override {
        const Lane& own = lanes_[lane];
        bool holds = false;
        for (i64 node = 0; node < m_.nodes; node++) {
            const Router& router = router_at(node);
            holds |= levels_of(node)[0][lane] || (router.first.way[lane] && router.wait[lane] <= 1);
        }
        const i64 numbers[] = {slot_ - own.origin, own.sent, own.left, own.offered, holds};
        std::copy_n(numbers, 5, out);
    }

   private:
    Router& router_at(i64 node) { return *reinterpret_cast<Router*>(routers_.template as<Plane>() + node * stride_); }
    // Levels: bit w of plane k tells whether more than k packets, or credits, are there.
    Plane* levels_of(i64 node) { return reinterpret_cast<Plane*>(&router_at(node) + 1); }  // axis (level), of queues
    Plane* credits_of(i64 node) { return levels_of(node) + depth_; }                       // axis (level), of ways
    Held* queue_of(i64 node, i64 queue) {                                                  // axis (place)
        return reinterpret_cast<Held*>(levels_of(node) + 2 * depth_) + queue * depth_;
    }
    Sender& sender_at(i64 node, i64 lane) {
        return *reinterpret_cast<Sender*>(senders_.template as<u8>() + (lane * m_.nodes + node) * sender_bytes_);
    }
    Drawn* few_at(i64 node, i64 lane) { return few_.template as<Drawn>() + (lane * m_.nodes + node) * FEW; }
    static void set_byte(Plane& plane, i64 lane, i64 byte) {
        reinterpret_cast<u8*>(&plane)[lane] = static_cast<u8>(byte);
    }
    static void add_bits(u8 bits, i32* out) {
        for (; bits; bits &= static_cast<u8>(bits - 1)) out[lowest(bits)]++;
    }
    // The bits of one port as those of another.
    static Plane of_port(Plane plane, int from, int to) {
        return moved(plane & all(((1 << VCS) - 1) << from * VCS), (to - from) * VCS);
    }

    // Draw the messages that are created before a slot begins, in all lanes.
    void draw(i64 stop) {
        for (i64 number = 0; number < LANES; number++) {
            Lane& lane = lanes_[number];
            if (!lane.loaded) continue;
            const i64 limit = (stop - lane.origin) * m_.length + m_.sample;
            lane.creation.in_turns(limit - lane.first, [&](const Message& message) {
                const i64 created = lane.first + message.cycle;
                if (lane.ledger) lane.ledger->create(0, created, message.source, message.destination, 1, message.flits);
                lane.offered++;
                Sender& sender = sender_at(message.source, number);
                if (sender.end == sender.room) make_room(sender);
                sender.waiting[sender.end++] = {static_cast<i32>(created), static_cast<i32>(message.destination)};
                if (sender.idle) prepare(sender, message.source, number, slot_ - 1 - lane.origin);
            });
        }
    }

    // Forget what has been prepared, or take more memory.
    void make_room(Sender& sender) {
        const u32 left = sender.end - sender.begin;
        if (2 * left > sender.room) {
            auto* const larger = static_cast<Drawn*>(std::malloc(2 * sender.room * sizeof(Drawn)));
            if (!larger) throw std::bad_alloc();
            std::copy_n(sender.waiting + sender.begin, left, larger);
            if (sender.room > FEW) std::free(sender.waiting);
            sender.waiting = larger;
            sender.room *= 2;
        } else {
            std::copy_n(sender.waiting + sender.begin, left, sender.waiting);
        }
        sender.begin = 0, sender.end = left;
    }

    // Let a sender prepare its next packet when slot `now` of the lane has been allocated.
    void prepare(Sender& sender, i64 node, i64 number, i64 now) {
        Router& router = router_at(node);
        u8* const way = reinterpret_cast<u8*>(&router.first.way) + number;
        sender.idle = sender.begin == sender.end;
        if (sender.idle) {
            sender.begin = sender.end = 0;
            *way = 0;
            return;
        }
        const Drawn drawn = sender.waiting[sender.begin++];
        // Of a slot the terminal works on the cycles from the sample phase on, before the next one is allocated. A
        // packet that is there in the first of them is accepted whole, or its head alone; then the rest a slot later.
        const u32 late = static_cast<u32>(drawn.created - m_.sample + m_.length - 1);  // and sample is less than length
        const i64 complete = late / static_cast<u32>(m_.length), room = sender.gone[sender.place] + 1;
        const i64 slot = std::max({complete, i64{sender.accepted} + 1, room});
        const bool alone = slot == complete && sender.accepted < slot - 1 && room < slot;
        const i64 head = alone ? drawn.created : slot * m_.length + m_.sample;
        sender.accepted = static_cast<i32>(slot);
        Lane& lane = lanes_[number];
        const u16 name = lane.free[--lane.spare];
        lane.about[name] = {drawn.created, static_cast<i32>(head), static_cast<u8>(node),
                            static_cast<u8>(drawn.destination)};
        const auto set = [number](Plane& plane, i64 byte) { set_byte(plane, number, byte); };
        set(router.first.packet.to, drawn.destination);
        set(router.first.packet.low, name);
        set(router.first.packet.high, name >> 8);
        set(router.wait, std::max(slot, now) + 1 - now);
        *way = table_.as<u8>()[node * blocks_ * 16 + drawn.destination];
    }

    // Work on a router in a slot, in all lanes.
    void work(i64 node) {
        Router& r = router_at(node);
        Plane* const credits = credits_of(node);
        const i32* const there = neighbors_.begin() + node * PORTS;
        Plane back{}, came{};
        for (int port = 0; port < PORTS; port++) {
            if (there[port] < 0) continue;
            const int from = opposite_[port];
            back |= of_port(freed_.at(slot_ - m_.credit_latency[port])[there[port]].queues, from, port);
            came |= of_port(sent_.at(slot_ - m_.latency[from])[there[port]].ways, from, port);
        }
        for (i64 level = depth_ - 1; level > 0; level--) credits[level] |= back & credits[level - 1];
        credits[0] |= back;
        r.ejection -= freed_.at(slot_ - m_.ejection_slots)[node].ejection;
        enter(node, came, there);

        // Inputs: what each offers to ways, and whether to ejection.
        const Plane credit = credits[0], ejects = ~is_none(r.ejection);
        Plane want[INPUTS], out[INPUTS], second[INPUTS];
        Named offer[INPUTS];
        const auto look = [&](const Held& held, Plane& wanted, Plane& ejected) {
            const Plane here = is(held.way, all(HERE));
            wanted = held.way & credit & ~here;
            ejected = here & ejects;
        };
        for (int port = 0; port < PORTS; port++) {
            const Held& one = *queue_of(node, port * VCS);
            look(one, want[port], out[port]);
            second[port] = Plane{};
            offer[port] = one.packet;
            if constexpr (VCS == 2) {
                const Held& two = *queue_of(node, port * VCS + 1);
                Plane wanted, ejected;
                look(two, wanted, ejected);
                const Plane nothing = is_none(want[port] | out[port]);
                const Plane mask = second[port] =
                    ~is_none(wanted | ejected) & (nothing | has(r.second_in, port * VCS));
                want[port] = either(mask, wanted, want[port]);
                out[port] = either(mask, ejected, out[port]);
                offer[port] = {either(mask, two.packet.to, one.packet.to), either(mask, two.packet.low, one.packet.low),
                               either(mask, two.packet.high, one.packet.high)};
            }
        }
        r.wait += ~is_none(r.wait);
        look(r.first, want[INJECTION], out[INJECTION]);
        want[INJECTION] &= is_none(r.wait);
        out[INJECTION] &= is_none(r.wait);
        second[INJECTION] = Plane{};
        offer[INJECTION] = r.first.packet;

        // Outputs: of each way the first of those that want it, of the two ways of a port one.
        Plane asked{}, lost[INPUTS]{}, stay[INPUTS]{};
        for (int input = 0; input < INPUTS; input++) asked |= want[input];
        Plane* before = r.before;
        for (int j = 1; j < INPUTS; j++)
            for (int i = 0; i < j; i++, before++) {
                lost[j] |= want[i] & *before;
                lost[i] |= want[j] & ~*before;
                if constexpr (VCS == 1) stay[j] |= out[i] & *before, stay[i] |= out[j] & ~*before;
            }
        Plane sent = asked;
        if constexpr (VCS == 2) {
            const Plane evens = all(0x55), both = asked & moved(asked & ~evens, -1) & evens;
            const Plane latter = r.second_out | ~turn_;
            sent &= ~((both & latter) | moved(both & ~latter, 1));
            r.second_out = (r.second_out | (sent & evens)) & ~moved(sent & ~evens, -1);
            Plane ask{};
            for (int input = 0; input < INPUTS; input++) ask |= out[input] & all(1 << input);
            for (int input = 0; input < INPUTS; input++) stay[input] = ~is_none(r.ejects[input] & ask);
        }
        Plane served[INPUTS], ejected{}, low{}, high{}, takes{};
        for (int input = 0; input < INPUTS; input++) {
            want[input] &= sent & ~lost[input];
            out[input] &= ~stay[input];
            served[input] = ~is_none(want[input]) | out[input];
            ejected |= out[input];
            takes |= out[input] & all(1 << input);
            low = either(out[input], offer[input].low, low);
            high = either(out[input], offer[input].high, high);
        }
        before = r.before;
        for (int j = 1; j < INPUTS; j++)
            for (int i = 0; i < j; i++, before++)
                *before = VCS == 2 ? (*before & ~want[i]) | want[j] : (*before & ~served[i]) | served[j];
        if constexpr (VCS == 2)
            for (int input = 0; input < INPUTS; input++)
                r.ejects[input] = either(out[input], all(~(1 << input)), r.ejects[input] & ~takes);

        // Packets go.
        Sent& to = sent_.at(slot_)[node];
        to.ways = sent;
        for (int port = 0; port < PORTS; port++) {
            Named goes = offer[0];
            for (int input = 1; input < INPUTS; input++) {
                const Plane other = is_none(want[input] & all(((1 << VCS) - 1) << port * VCS));
                goes.to = either(other, goes.to, offer[input].to);
                goes.low = either(other, goes.low, offer[input].low);
                goes.high = either(other, goes.high, offer[input].high);
            }
            to.packets[port] = goes;
        }
        for (i64 level = 0; level < depth_ - 1; level++) credits[level] &= ~sent | credits[level + 1];
        credits[depth_ - 1] &= ~sent;
        r.ejection += ejected;
        count_bits(sent);
        freed_.at(slot_)[node] = {leave(node, served, second), ejected};
        for (u32 lanes = lanes_of(served[INJECTION]); lanes; lanes &= lanes - 1) {
            ask(&sender_at(node, lowest(lanes)));
            ask(few_at(node, lowest(lanes)));
        }
        for (u32 lanes = lanes_of(ejected); lanes; lanes &= lanes - 1) {
            const int lane = lowest(lanes);
            eject(node, lane, static_cast<u16>(low[lane] | high[lane] << 8));
        }
        for (u32 lanes = lanes_of(served[INJECTION]); lanes; lanes &= lanes - 1) {
            const i64 lane = lowest(lanes), now = slot_ - lanes_[lane].origin;
            Sender& sender = sender_at(node, lane);
            sender.gone[sender.place] = static_cast<i32>(now);
            if (++sender.place == m_.injection_buffers) sender.place = 0;
            prepare(sender, node, lane, now);
        }
    }

    // Put what has crossed channels into queues. Places behind the packets of a queue hold anything, but no way.
    void enter(i64 node, Plane came, const i32* there) {
        Plane* const levels = levels_of(node);
        for (int port = 0; port < PORTS; port++) {
            if (!any(came & all(((1 << VCS) - 1) << port * VCS))) continue;
            const int from = opposite_[port];
            const Named& packet = sent_.at(slot_ - m_.latency[from])[there[port]].packets[from];
            const Plane way = lookup(table_.as<u8>() + node * blocks_ * 16, blocks_, packet.to);
            for (int queue = port * VCS; queue < (port + 1) * VCS; queue++) {
                Held* const places = queue_of(node, queue);
                Plane left = has(came, queue);
                for (i64 place = 0;; place++) {
                    const Plane taken = has(levels[place], queue), mask = left & ~taken;
                    Held& held = places[place];
                    held.packet.to = either(mask, packet.to, held.packet.to);
                    held.packet.low = either(mask, packet.low, held.packet.low);
                    held.packet.high = either(mask, packet.high, held.packet.high);
                    held.way = either(mask, way, held.way);
                    left &= taken;
                    if (place + 1 == depth_ || (place > 0 && !any(left))) break;
                }
            }
        }
        for (i64 level = depth_ - 1; level > 0; level--) levels[level] |= came & levels[level - 1];
        levels[0] |= came;
    }

    // Take what was served out of the queues; return which of them have lost a packet.
    Plane leave(i64 node, const Plane* served, const Plane* second) {
        Router& r = router_at(node);
        Plane* const levels = levels_of(node);
        Plane freed{};
        for (int port = 0; port < PORTS; port++) {
            for (int vc = 0; vc < VCS; vc++) {
                const int queue = port * VCS + vc;
                const Plane own = vc ? second[port] : ~second[port];
                const Plane mask = VCS == 1 ? served[port] : served[port] & own;
                Held* const places = queue_of(node, queue);
                freed |= mask & all(1 << queue);
                for (i64 place = 0; place < depth_ - 1; place++) {
                    if (place > 0 && !any(mask & has(levels[place], queue))) break;
                    Held &held = places[place], &next = places[place + 1];
                    held.packet.to = either(mask, next.packet.to, held.packet.to);
                    held.packet.low = either(mask, next.packet.low, held.packet.low);
                    held.packet.high = either(mask, next.packet.high, held.packet.high);
                    held.way = either(mask, next.way, held.way);
                }
                places[depth_ - 1].way &= ~mask;
            }
        }
        for (i64 level = 0; level < depth_ - 1; level++) levels[level] &= ~freed | levels[level + 1];
        levels[depth_ - 1] &= ~freed;
        if constexpr (VCS == 2) {
            const Plane evens = all(0x55);
            r.second_in = (r.second_in | (freed & evens)) & ~moved(freed & ~evens, -1);
        }
        return freed;
    }

    // Enter packets that have left, as many as fit into a cache beside those of other lanes.
    static void enter_left(Lane& lane) {
        for (std::size_t k = 0; k < lane.num_last; k++)
            lane.ledger ? lane.ledger->take(0, lane.left_last[k], true) : lane.out.push(lane.left_last[k]);
        lane.num_last = 0;
    }

    void eject(i64 node, i64 number, u16 name) {
        Lane& lane = lanes_[number];
        const About& about = lane.about[name];
        const i64 tail = (slot_ - lane.origin + 2) * m_.length + m_.ejection_cycles - 1;
        if (lane.num_last == BATCH) [[unlikely]]
            enter_left(lane);
        lane.left_last[lane.num_last++] = {
            m_.address[node], about.created, about.head, about.source << Row::SOURCE | Row::ALONE,
            hops_[about.source * m_.nodes + node], static_cast<i32>(tail), static_cast<i32>(node)};
        lane.free[lane.spare++] = name;
        lane.left++;
    }

    void count_bits(Plane bits) {
        bits -= moved(bits, -1) & all(0x55);
        bits = (bits & all(0x33)) + (moved(bits, -2) & all(0x33));
        hopped_ += (bits + moved(bits, -4)) & all(0x0F);
    }
    void note_hops() {
        for (int lane = 0; lane < LANES; lane++) lanes_[lane].sent += hopped_[lane];
        hopped_ = Plane{};
    }

    const Machine m_;
    i64 depth_ = 1, capacity_ = 0, stride_ = 0, slot_ = 0;
    int blocks_ = 0, opposite_[PORTS];
    Pages table_, routers_;  // axes (node, destination): ways as bits
    List<u8> hops_;          // axes (node, destination)
    List<i32> neighbors_;    // axes (node, port)
    Ring<Sent> sent_;        // axes (slot, node)
    Ring<Freed> freed_;
    Pages senders_, few_;    // axes (lane, node)
    i64 sender_bytes_ = 0;
    Lane lanes_[LANES];
    Plane phase_{}, turn_{}, hopped_{};  // slots of a lane modulo CLASS_SLOTS; whether classes take turns; packets sent
};

// The ways of all packets to terminals as bits, and the channels before them; false if one does not arrive.
bool find_routes(const Machine& machine, i64 terminals, List<u8>& ways, List<u8>& hops) {
    const Ways rule(*machine.rule, static_cast<int>(machine.address_bits), static_cast<int>(machine.vc_bits),
                    machine.queues());
    const i64 nodes = machine.nodes, local = machine.local();
    ways.assign(nodes * nodes, 0);
    hops.assign(nodes * nodes, 0);
    for (i64 node = 0; node < nodes; node++)
        for (i64 end = 0; end < terminals; end++) {
            const i32 way = rule(machine.address[node], machine.address[end]);
            ways[node * nodes + end] = way < local ? static_cast<u8>(1 << way) : HERE;
        }
    for (i64 node = 0; node < nodes; node++)
        for (i64 end = 0; end < terminals; end++) {
            i64 at = node, crossed = 0;
            for (u8 way; (way = ways[at * nodes + end]) != HERE; crossed++) {
                at = machine.neighbor(at, lowest(way) >> machine.vc_bits);
                if (at < 0 || crossed == nodes) return false;
            }
            if (at != end) return false;
            hops[node * nodes + end] = static_cast<u8>(crossed);
        }
    return true;
}

template <int VCS>
Lanes* made_of(const Machine& machine, const List<u8>& ways, const List<u8>& hops) {
    switch (machine.ports) {
        case 1: return new LanesOf<1, VCS>(machine, ways, hops);
        case 2: return new LanesOf<2, VCS>(machine, ways, hops);
        case 3: return new LanesOf<3, VCS>(machine, ways, hops);
        case 4: return new LanesOf<4, VCS>(machine, ways, hops);
    }
    if constexpr (VCS == 1) switch (machine.ports) {
        case 5: return new LanesOf<5, VCS>(machine, ways, hops);
        case 6: return new LanesOf<6, VCS>(machine, ways, hops);
        case 7: return new LanesOf<7, VCS>(machine, ways, hops);
        case 8: return new LanesOf<8, VCS>(machine, ways, hops);
    }
    return nullptr;
}

Lanes& lanes_at(void* lanes) { return *static_cast<Lanes*>(lanes); }

}  // namespace

}  // namespace hdnhw

using namespace hdnhw;

// Make them, or none if a route does not end at its destination.
HDNHW_API i64 lanes_make(const Machine* machine, i64 terminals, void** made) {
    return guarded([&] {
        List<u8> ways, hops;
        const bool ends = find_routes(*machine, terminals, ways, hops);
        if (ends) *made = machine->vc_bits ? made_of<2>(*machine, ways, hops) : made_of<1>(*machine, ways, hops);
    });
}
HDNHW_API void lanes_free(void* lanes) { delete static_cast<Lanes*>(lanes); }
HDNHW_API void lanes_reset(void* lanes, i64 lane) { lanes_at(lanes).reset(lane); }
HDNHW_API i64 lanes_load(void* lanes, i64 lane, const Traffic* traffic, i64 first, void* ledger) {
    return guarded([&] { lanes_at(lanes).load(lane, traffic, first, static_cast<Ledger*>(ledger)); });
}
HDNHW_API i64 lanes_advance(void* lanes, i64 slots) {
    return guarded([&] { lanes_at(lanes).advance(slots); });
}
HDNHW_API i64 lanes_rows(void* lanes, i64 lane, i32* out) { return lanes_at(lanes).rows(lane, out); }
HDNHW_API i64 lanes_found(void* lanes, i64 lane, i32* out) { return lanes_at(lanes).found(lane, out); }
HDNHW_API void lanes_credits(void* lanes, i64 lane, i32* out) { lanes_at(lanes).credits(lane, out); }
HDNHW_API void lanes_numbers(void* lanes, i64 lane, i64* out) { lanes_at(lanes).numbers(lane, out); }
