#include <utility>

#include <fmt/format.h>

#include "workflow/asl/internal/read/reading.h"

namespace sluice::workflow::asl::internal {

ParallelState read_parallel(StateSite& site) {
    auto parallel = ParallelState{};
    site.object.require({"Branches"});
    auto branches = site.object.list("Branches");
    if (branches && branches->empty()) {
        site.object.refuse("Branches", "A Parallel state must have at least one branch");
    }
    auto index = std::size_t{0};
    for (const auto& branch : branches.value_or(std::span<const Value>{})) {
        auto place = join(site.object.at("Branches"), index++);
        if (!branch.is_map()) {
            site.reading.report.add(
                place, fmt::format("A branch must be an object but is {}", kind_of(branch)));
            continue;
        }
        Object{branch, place, site.reading.report}.allow_only({"StartAt", "States", "Comment"});
        parallel.branches.push_back(site.reading.add_flow(
            {.form = &branch, .pointer = std::move(place), .is_express = site.is_express},
            site.number));
    }
    return parallel;
}

} // namespace sluice::workflow::asl::internal
