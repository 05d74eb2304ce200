#include "rule.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

namespace hdnhw {

void Rule::decide(const i32* cur, const i32* dst, i64 count, i32* decisions) const {
    if (table_) {
        for (i64 k = 0; k < count; k++) {
            const i64 target = static_cast<u32>(dst[k]);
            decisions[k] = target < targets_ && cur[k] < nodes_ ? table_[target * nodes_ + cur[k]] : arrived_;
        }
        return;
    }
    // Of few decisions short vectors are computed: of so many, the loops have a fixed length.
    const auto go_on = [&](auto value, i64 done, int number) {
        using Value = decltype(value);
        if (number <= 8)
            run<Value, 8>(cur + done, dst + done, number, decisions + done);
        else if (number <= 32)
            run<Value, 32>(cur + done, dst + done, number, decisions + done);
        else
            run<Value, BATCH>(cur + done, dst + done, number, decisions + done);
    };
    for (i64 done = 0; done < count; done += BATCH) {
        const int number = static_cast<int>(std::min<i64>(BATCH, count - done));
        if (narrow_)
            go_on(i16{}, done, number);
        else
            go_on(i32{}, done, number);
    }
}

template <class Value, int W>
void Rule::run(const i32* cur, const i32* dst, int count, i32* decisions) const {
    constexpr int LANES = std::min<int>(32 / sizeof(Value), W);
    // They stand anywhere, and are no other type than the values in them.
    typedef Value Vector __attribute__((vector_size(LANES * sizeof(Value)), aligned(alignof(Value)), may_alias));
    typedef i32 Words __attribute__((vector_size(LANES * sizeof(i32)), aligned(alignof(i32)), may_alias));
    thread_local std::vector<i32> memory;
    if (memory.size() < static_cast<std::size_t>(registers_) * BATCH) memory.resize(registers_ * BATCH);
    Value* const all = reinterpret_cast<Value*>(memory.data());
    i32 curs[W], dsts[W];
    std::copy(cur, cur + count, curs);
    std::copy(dst, dst + count, dsts);
    std::fill(curs + count, curs + W, 0);
    std::fill(dsts + count, dsts + W, 0);
    for (const Gate& gate : std::span(gates_, count_)) {
        const auto at = [&](i32 number) { return reinterpret_cast<Vector*>(all + static_cast<i64>(number) * BATCH); };
        Vector* const to = at(gate.to);
        const Vector *const a = at(gate.a), *const b = at(gate.b), *const c = at(gate.c);
        const Words *const own = reinterpret_cast<Words*>(curs), *const target = reinterpret_cast<Words*>(dsts);
        const Value value = static_cast<Value>(gate.value);
        const Vector all_value = Vector{} + value;
        switch (gate.op) {
#define EACH(expression)                                          \
    for (int k = 0; k < W / LANES; k++) to[k] = (expression); \
    break
            case Gate::CONST: EACH(all_value);
            case Gate::CUR: EACH(__builtin_convertvector((own[k] >> gate.a) & gate.value, Vector));
            case Gate::DST: EACH(__builtin_convertvector((target[k] >> gate.a) & gate.value, Vector));
            case Gate::AND: EACH(a[k] & b[k]);
            case Gate::OR: EACH(a[k] | b[k]);
            case Gate::NOT: EACH(1 - a[k]);
            case Gate::EQ: EACH((a[k] == b[k]) & 1);
            case Gate::LT: EACH((a[k] < b[k]) & 1);
            case Gate::ADD: EACH(a[k] + b[k]);
            case Gate::SUB: EACH(a[k] - b[k]);
            case Gate::SUBMOD: EACH(a[k] - b[k] + ((a[k] < b[k]) & all_value));
            case Gate::ODD: EACH(a[k] & 1);
            case Gate::MUX: EACH((a[k] != 0) ? b[k] : c[k]);
            case Gate::SELECT: EACH((a[k] != 0) ? all_value : b[k]);
            case Gate::ATTACH: EACH(a[k] | b[k] << gate.value);
#undef EACH
        }
    }
    std::copy_n(all + result_ * BATCH, count, decisions);
}

namespace {
constexpr int TABLE_BITS = 12;  // most bits of an address where all decisions are asked for at the begin
constexpr int WHOLE_BITS = 9;   // where they are a table of all pairs, of bytes
}  // namespace

Ways::Ways(const Rule& rule, int address_bits, int vc_bits, i64 ways) : rule_(rule), vc_bits_(vc_bits) {
    if (address_bits > TABLE_BITS || address_bits < 1) return;
    whole_ = address_bits <= WHOLE_BITS && ways <= 256;
    low_ = (address_bits + 1) / 2, high_ = address_bits - low_;
    const i64 addresses = i64{1} << address_bits, length = i64{1} << low_;
    std::unordered_map<u64, std::vector<u32>> known;
    std::vector<i32> cur(addresses), dst(addresses), row(addresses);
    for (i64 k = 0; k < addresses; k++) dst[k] = static_cast<i32>(k);
    if (whole_)
        direct_.resize(addresses << address_bits);
    else
        rows_.resize(addresses << high_);
    for (i64 own = 0; own < addresses; own++) {
        std::fill(cur.begin(), cur.end(), static_cast<i32>(own));
        (*this)(cur.data(), dst.data(), addresses, row.data());
        if (whole_) {
            for (i64 k = 0; k < addresses; k++) direct_[own << address_bits | k] = static_cast<u8>(row[k]);
            continue;
        }
        for (i64 part = 0; part < i64{1} << high_; part++) {
            const i32* const piece = row.data() + (part << low_);
            u64 hash = 1469598103934665603u;
            for (i64 k = 0; k < length; k++) hash = (hash ^ static_cast<u32>(piece[k])) * 1099511628211u;
            auto& same = known[hash];
            const auto found = std::find_if(same.begin(), same.end(), [&](u32 number) {
                return std::equal(piece, piece + length, pieces_.begin() + (static_cast<u64>(number) << low_));
            });
            u32 number = static_cast<u32>(pieces_.size() >> low_);
            if (found != same.end()) {
                number = *found;
            } else {
                if (number >> 16) return;  // as if it had too many bits
                same.push_back(number);
                for (i64 k = 0; k < length; k++) pieces_.push(static_cast<u16>(piece[k]));
            }
            rows_[(own << high_) + part] = static_cast<u16>(number);
        }
    }
    bits_ = address_bits;
}

}  // namespace hdnhw

using namespace hdnhw;

HDNHW_API int core_runs_v3() {
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#else
    return 0;
#endif
}

HDNHW_API void* rule_of_gates(const Gate* gates, i64 count, i64 registers, i64 result) {
    return new Rule(gates, count, registers, result);
}
HDNHW_API void* rule_of_table(const i32* table, i64 targets, i64 nodes, i64 arrived) {
    return new Rule(table, targets, nodes, static_cast<i32>(arrived));
}
HDNHW_API void rule_free(void* rule) { delete static_cast<Rule*>(rule); }
HDNHW_API void rule_decide(const void* rule, const i32* cur, const i32* dst, i64 count, i32* decisions) {
    static_cast<const Rule*>(rule)->decide(cur, dst, count, decisions);
}
