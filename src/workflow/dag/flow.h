#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "value/value.h"
#include "workflow/dag/template.h"

namespace sluice::workflow::dag {

/// When a task begins, by how those before it ended.
enum class Rule : std::uint8_t { AllSuccess, AllDone, OneSuccess, NoneFailed, KOfN, Caught };

struct Catch {
    std::vector<std::string> kinds; ///< Of errors; empty: all.
    std::string handler;
};

struct Flow;

/// A task as its author wrote it. Tasks are named by their places in their flow.
struct FlowTask {
    std::string name;
    std::string path; ///< In the file: `tasks/resize`.
    Value form;
    std::string kind; ///< The operator; empty: it has none, or several.
    std::vector<std::uint32_t> after;
    Rule rule = Rule::AllSuccess;
    std::uint64_t needed = 0; ///< Of `k_of_n`.
    std::vector<Catch> catches;
    std::vector<std::uint32_t> caught_for; ///< Tasks whose errors begin this one.
    TaskUses uses;                         ///< What its expressions want of others.
    std::unique_ptr<Flow> body;            ///< What is done for each item of a map.

    bool is_handler() const { return !caught_for.empty(); }
    /// Those whose ends it waits for.
    const std::vector<std::uint32_t>& upstream() const { return is_handler() ? caught_for : after; }
    /// Whether it begins only when all of them have ended.
    bool waits_for_all() const { return rule != Rule::OneSuccess && rule != Rule::KOfN; }
};

/// The tasks of a definition, or of the body of a map.
struct Flow {
    std::vector<FlowTask> tasks;
    std::vector<std::string> prefixes; ///< Of ids, one for each body around it: `tiles.`
    ExpressionSite site;
    const Flow* outer = nullptr;
    std::uint32_t owner = 0; ///< Of a body: the map, among the outer tasks.
    boost::unordered_flat_map<std::string_view, std::uint32_t> by_name;

    std::string id_of(std::string_view name) const {
        return prefixes.empty() ? std::string{name} : prefixes.back() + std::string{name};
    }
};

} // namespace sluice::workflow::dag
