#include "sluice/run/trigger_names.h"

#include <fmt/format.h>

#include "engine/run_records.h"
#include "sluice/output.h"

namespace sluice::app {

namespace {

std::shared_ptr<const trigger::TriggerSet> set_of(engine::Catalog& catalog,
                                                  const std::string& hash) {
    if (hash.empty()) {
        return nullptr;
    }
    auto set = catalog.set(hash);
    return set ? *std::move(set) : nullptr;
}

} // namespace

TriggerNames::Known TriggerNames::load(const engine::RunName& run) {
    auto known = Known{};
    auto state = engine::load_run(store_, shard_of(run, store_.shard_count()), run);
    if (!state || !*state) {
        return known;
    }
    known.set = set_of(catalog_, (*state)->info.set);
    for (const auto& [number, changed] : (*state)->overrides) {
        known.added[number] = text_at(changed.form, "id");
    }
    return known;
}

void TriggerNames::note(const engine::RunName& run, const trigger::Change& change) {
    if (const auto* began = std::get_if<trigger::Began>(&change)) {
        runs_[run] = {.set = set_of(catalog_, began->info.set)};
        return;
    }
    if (std::holds_alternative<trigger::Renewed>(change)) {
        runs_.erase(run); // Looked up when it is asked for.
        return;
    }
    const auto* changed = std::get_if<trigger::Overridden>(&change);
    if (changed != nullptr && !changed->form.is_null()) {
        auto known = runs_.find(run);
        if (known != runs_.end()) {
            known->second.added[changed->trigger] = text_at(changed->form, "id");
        }
    }
}

std::string TriggerNames::name(const engine::RunName& run, trigger::TriggerNumber number) {
    if (number == trigger::command_trigger) {
        return "(command)";
    }
    auto known = runs_.find(run);
    if (known == runs_.end()) {
        known = runs_.emplace(run, load(run)).first;
    }
    const auto& [set, added] = known->second;
    if (auto found = added.find(number); found != added.end() && !found->second.empty()) {
        return found->second;
    }
    if (set && number.raw() < set->size()) {
        return set->at(number).spec.id;
    }
    return fmt::format("#{}", number.raw());
}

} // namespace sluice::app
