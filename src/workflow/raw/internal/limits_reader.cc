#include "workflow/raw/internal/limits_reader.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "expr/cel/compile.h"
#include "expr/program.h"
#include "value/amount_text.h"
#include "value/time_text.h"
#include "workflow/raw/internal/member_reader.h"

namespace sluice::workflow::raw::internal {

namespace {

constexpr auto limit_count_max = std::int64_t{1'000'000};
constexpr auto function_priority_max = std::int64_t{1'000};
constexpr auto cpu_max = 1'024.0;

/// A map with limits; what is wrong becomes a problem.
class LimitsReader {
public:
    LimitsReader(const Value& form, std::string path, std::vector<trigger::Problem>& problems)
        : form_(form), path_(std::move(path)), problems_(problems) {}

    bool is_map(std::initializer_list<std::string_view> known) const {
        if (!form_.is_map()) {
            problems_.push_back({path_, fmt::format("found {}, expected a map with {}",
                                                    describe(form_), fmt::join(known, ", "))});
            return false;
        }
        for (const auto& member : form_.as_map()) {
            if (std::ranges::find(known, member.key) == known.end()) {
                report(member.key,
                       fmt::format("unknown member, expected one of {}", fmt::join(known, ", ")));
            }
        }
        return true;
    }
    const Value* find(std::string_view name) const {
        const auto* member = form_.find(name);
        return member == nullptr || member->is_null() ? nullptr : member;
    }
    LimitsReader inside(std::string_view name) const {
        return {*find(name), fmt::format("{}/{}", path_, name), problems_};
    }
    void report(std::string_view name, std::string message) const {
        problems_.push_back({fmt::format("{}/{}", path_, name), std::move(message)});
    }

    std::int64_t integer(std::string_view name, std::int64_t least, std::int64_t most,
                         std::int64_t otherwise) const {
        const auto* member = find(name);
        if (member == nullptr) {
            return otherwise;
        }
        if (!member->is_int() || member->as_int() < least || member->as_int() > most) {
            report(name, fmt::format("found {}, expected an integer from {} to {}",
                                     describe(*member), least, most));
            return otherwise;
        }
        return member->as_int();
    }
    Nanos duration(std::string_view name, Nanos otherwise) const {
        const auto* member = find(name);
        if (member == nullptr) {
            return otherwise;
        }
        if (member->is_int() && member->as_int() > 0) {
            return std::chrono::seconds{std::min(member->as_int(), limit_count_max)};
        }
        auto parsed = member->is_string() ? value::parse_duration(member->as_string())
                                          : Result<Nanos>{Nanos{0}};
        if (!parsed || *parsed <= Nanos{0}) {
            report(name,
                   fmt::format("found {}, expected a duration such as \"30s\"", describe(*member)));
            return otherwise;
        }
        return *parsed;
    }
    template <typename Number>
    Number amount(std::string_view name, Result<Number> (*parse)(const Value&)) const {
        const auto* member = find(name);
        if (member == nullptr) {
            return {};
        }
        auto parsed = parse(*member);
        if (!parsed) {
            report(name, parsed.error().message);
        }
        return parsed.value_or(Number{});
    }
    void check_rate() const {
        amount("rate", value::parse_rate);
        integer("burst", 1, limit_count_max, 0);
        if (find("burst") != nullptr && find("rate") == nullptr) {
            report("burst", "a burst is of a rate, expected rate too");
        }
    }

private:
    const Value& form_;
    std::string path_;
    std::vector<trigger::Problem>& problems_;
};

void check_key(const LimitsReader& reader) {
    const auto* key = reader.find("key");
    if (key == nullptr || !key->is_string()) {
        reader.report("key", fmt::format("found {}, expected an expression over input such as "
                                         "\"input.customer\"",
                                         describe(key == nullptr ? Value{} : *key)));
        return;
    }
    auto compiled = expr::cel::compile(key->as_string(), {.names = {"input"}});
    if (!compiled) {
        reader.report("key", expr::describe(compiled.error()));
    }
}

void read_rates(const LimitsReader& reader, FunctionForm& function) {
    reader.check_rate();
    reader.integer("priority", -function_priority_max, function_priority_max, 0);
    if (reader.find("per_key") != nullptr) {
        auto per_key = reader.inside("per_key");
        if (per_key.is_map({"key", "concurrency", "rate", "burst"})) {
            check_key(per_key);
            per_key.integer("concurrency", 1, limit_count_max, 0);
            per_key.check_rate();
        }
    }
    for (auto name : {"rate", "burst", "priority", "per_key"}) {
        if (const auto* member = reader.find(name)) {
            auto policy = function.policy.is_map() ? function.policy : Value::map({});
            function.policy = policy.with(name, *member);
        }
    }
}

void read_pool(const LimitsReader& reader, FunctionForm& function) {
    auto pool = PoolForm{};
    if (reader.is_map({"max", "idle", "calls", "heartbeat"})) {
        pool.max = static_cast<std::uint32_t>(reader.integer("max", 1, 1'000, pool.max));
        pool.idle = reader.duration("idle", pool.idle);
        pool.calls = static_cast<std::uint64_t>(reader.integer("calls", 1, limit_count_max, 0));
        pool.heartbeat = reader.duration("heartbeat", Nanos{0});
    }
    function.pool = pool;
}

void read_resources(const LimitsReader& reader, ResourceForm& resources) {
    if (!reader.is_map({"memory", "cpu", "cpu_time"})) {
        return;
    }
    resources.memory_bytes = reader.amount("memory", value::parse_bytes);
    resources.cpu_time = reader.duration("cpu_time", Nanos{0});
    const auto* cpu = reader.find("cpu");
    if (cpu == nullptr) {
        return;
    }
    auto number = cpu->is_double() ? cpu->as_double()
                  : cpu->is_int()  ? static_cast<double>(cpu->as_int())
                                   : 0.0;
    if (!(number >= 0.01 && number <= cpu_max)) {
        reader.report("cpu", fmt::format("found {}, expected processors from 0.01 to {}",
                                         describe(*cpu), cpu_max));
        return;
    }
    resources.cpu = number;
}

} // namespace

void read_limits(const Value& form, const std::string& path, FunctionForm& function,
                 std::vector<trigger::Problem>& problems) {
    if (!form.is_map()) {
        return;
    }
    auto reader = LimitsReader{form, path, problems};
    read_rates(reader, function);
    for (auto name : {"pool", "limits"}) {
        if (reader.find(name) == nullptr) {
            continue;
        }
        if (function.kind != FunctionKind::Process) {
            reader.report(name, fmt::format("only a process function has {}", name));
        } else if (std::string_view{name} == "pool") {
            read_pool(reader.inside(name), function);
        } else {
            read_resources(reader.inside(name), function.resources);
        }
    }
}

} // namespace sluice::workflow::raw::internal
