#include "workflow/asl/internal/run/fan.h"

namespace sluice::workflow::asl::internal::run {

namespace {

/// Those that are written only where they are not 0.
constexpr std::pair<std::string_view, std::uint64_t Fan::*> rare_counts[] = {
    {"bytes", &Fan::bytes}, {"slot", &Fan::slot},
    {"kept", &Fan::kept},   {"kept_bytes", &Fan::kept_bytes},
    {"lost", &Fan::lost},   {"redrives", &Fan::redrives},
    {"again", &Fan::again}, {"again_from", &Fan::again_from}};

Value numbers_value(const Fan::FileNumbers& numbers) {
    return Value::list({as_value(numbers[0]), as_value(numbers[1]), as_value(numbers[2])});
}

Fan::FileNumbers numbers_from(const Value& list) {
    auto numbers = Fan::FileNumbers{};
    for (auto at = std::size_t{0}; at < numbers.size(); ++at) {
        numbers[at] = static_cast<std::uint64_t>(list.as_list()[at].as_int());
    }
    return numbers;
}

} // namespace

Value Fan::plan() const {
    auto members = std::vector<value::Member>{{"items", items},
                                              {"input", input},
                                              {"size", as_value(size)},
                                              {"concurrency", as_value(concurrency)},
                                              {"started", as_value(started)}};
    if (tolerated > 0) {
        members.push_back({"tolerated", as_value(tolerated)});
    }
    if (tolerated_share > 0) {
        members.push_back({"tolerated_share", tolerated_share});
    }
    if (are_pairs) {
        members.push_back({"pairs", true});
    }
    if (are_inputs) {
        members.push_back({"inputs", true});
    }
    if (!destination.is_null()) {
        members.push_back({"destination", destination});
    }
    if (!request.is_null()) {
        members.insert(members.end(), {{"base", as_value(base)},
                                       {"request", request},
                                       {"cursor", cursor},
                                       {"read", as_value(read)},
                                       {"items_max", as_value(items_max)},
                                       {"rest", Value::list(rest)}});
    }
    return Value::map(std::move(members));
}

Value Fan::counts() const {
    auto counts = Value::object({{"next", as_value(next)},
                                 {"running", as_value(running)},
                                 {"done", as_value(done)},
                                 {"failed", as_value(failed)},
                                 {"last", as_value(last)},
                                 {"ended", as_value(ended)}});
    if (is_reading) {
        counts = counts.with("reading", true);
    }
    for (auto [name, member] : rare_counts) {
        counts = this->*member > 0 ? counts.with(name, as_value(this->*member)) : counts;
    }
    if (files != FileNumbers{}) {
        counts = counts.with("writes", as_value(writes)).with("files", numbers_value(files));
    }
    if (writes > 0) {
        auto listed = std::vector<Value>{};
        for (const auto& [where, numbers] : parts) {
            listed.push_back(
                Value::object({{"slot", as_value(where)}, {"numbers", numbers_value(numbers)}}));
        }
        counts = counts.with("parts", Value::list(std::move(listed)));
    }
    if (is_closing) {
        counts = counts.with("closing", true);
    }
    return failure.is_null() ? counts : counts.with("failure", failure);
}

void Fan::restore(const Value& plan, const Value& counts) {
    items = *plan.find("items");
    input = *plan.find("input");
    size = count_at(plan, "size");
    concurrency = count_at(plan, "concurrency");
    started = count_at(plan, "started");
    tolerated = count_at(plan, "tolerated");
    const auto* share = plan.find("tolerated_share");
    tolerated_share = share == nullptr ? 0 : share->as_double();
    are_pairs = plan.find("pairs") != nullptr;
    are_inputs = plan.find("inputs") != nullptr;
    const auto* place = plan.find("destination");
    destination = place == nullptr ? Value{} : *place;
    if (const auto* asked = plan.find("request")) {
        request = *asked;
        cursor = *plan.find("cursor");
        base = count_at(plan, "base");
        read = count_at(plan, "read");
        items_max = count_at(plan, "items_max");
        auto left = plan.find("rest")->as_list();
        rest.assign(left.begin(), left.end());
    }
    next = count_at(counts, "next");
    running = count_at(counts, "running");
    done = count_at(counts, "done");
    failed = count_at(counts, "failed");
    last = count_at(counts, "last");
    ended = count_at(counts, "ended");
    is_reading = counts.find("reading") != nullptr;
    for (auto [name, member] : rare_counts) {
        this->*member = count_at(counts, name);
    }
    writes = count_at(counts, "writes");
    if (const auto* numbers = counts.find("files")) {
        files = numbers_from(*numbers);
    }
    if (const auto* listed = counts.find("parts")) {
        for (const auto& part : listed->as_list()) {
            parts.emplace(count_at(part, "slot"), numbers_from(*part.find("numbers")));
        }
    }
    is_closing = counts.find("closing") != nullptr;
    const auto* failed_with = counts.find("failure");
    failure = failed_with == nullptr ? Value{} : *failed_with;
}

bool Fan::tolerates() const {
    return failed <= tolerated ||
           static_cast<double>(failed) * 100 <= tolerated_share * static_cast<double>(size) + 1e-9;
}

} // namespace sluice::workflow::asl::internal::run
