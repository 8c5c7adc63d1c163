#include "workflow/asl/internal/run/fan.h"

namespace sluice::workflow::asl::internal::run {

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
    return is_writing ? counts.with("writing", true) : counts;
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
    is_writing = counts.find("writing") != nullptr;
}

bool Fan::tolerates() const {
    return failed <= tolerated ||
           static_cast<double>(failed) * 100 <= tolerated_share * static_cast<double>(size) + 1e-9;
}

} // namespace sluice::workflow::asl::internal::run
