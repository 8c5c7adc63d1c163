#include "workflow/asl/internal/read/reading.h"

namespace sluice::workflow::asl::internal {

ParallelState read_parallel(StateSite& site) {
    auto parallel = ParallelState{};
    site.object.require({"Branches"});
    const auto* list = site.object.find("Branches");
    if (list != nullptr && list->is_list() && list->size() == 0) {
        site.object.refuse("Branches", "A Parallel state must have at least one branch");
    }
    site.object.each_object("Branches", [&](const Object& branch, bool /*is_last*/) {
        branch.allow_only({"StartAt", "States", "Comment"});
        parallel.branches.push_back(site.reading.add_flow(
            {.form = &branch.form(), .pointer = branch.pointer(), .is_express = site.is_express},
            site.number));
    });
    return parallel;
}

} // namespace sluice::workflow::asl::internal
