#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/store.h"
#include "trigger/trigger_set.h"

namespace sluice::engine {

/// A definition as a front end hands it over: the trigger-set form, and what its author wrote.
struct Definition {
    std::string name;
    std::string language = "triggers";
    Value form;         ///< As trigger::parse_set reads it.
    std::string source; ///< The author's text.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("name", name)("language", language)("form", form)("source", source);
    }
};

/// Definitions by name, and trigger sets by hash: compiled once, shared by all runs of all shards.
///
/// May be used from any thread; a lock is taken when a run wakes, not when an event is decided.
class Catalog {
public:
    /// What a run of a definition is pinned to.
    struct Meaning {
        std::string definition; ///< Its name.
        std::string hash;
        Value labels{}; ///< That the run gets.
    };
    /// What a name that the catalogue does not have means to a run of this id, such as a version.
    /// Called on the lanes' threads.
    using FindMeaning = std::function<std::optional<Meaning>(
        std::string_view space, std::string_view name, std::string_view run)>;

    Catalog(store::Store& store, const trigger::Vocabulary& vocabulary, FindMeaning find_other = {})
        : store_(store), vocabulary_(vocabulary), find_other_(std::move(find_other)) {}

    /// Hash of definition, language and compiler number: the identity a run is pinned to.
    static std::string hash_of(const Definition& definition);

    /// Compiles and stores it durably, and lets its name mean it from now on. Gives its hash, which
    /// is made anew unless it is given. Fails with InvalidInput.
    Result<std::string> add(std::string_view space, const Definition& definition,
                            std::string hash = {});
    /// What a name means now.
    Result<std::string> find(std::string_view space, std::string_view name) const;
    /// What it means to a run, also where another knows the name.
    Result<Meaning> meaning(std::string_view space, std::string_view name,
                            std::string_view run) const;
    /// The version of a definition with this hash. NotFound when it has none.
    Result<std::string> find_version(std::string_view space, std::string_view name,
                                     std::string_view hash) const;
    struct Version {
        std::uint64_t number = 0; ///< From 1.
        std::string hash;
    };
    /// What a name has meant, the last first.
    Result<std::vector<Version>> versions(std::string_view space, std::string_view name) const;
    struct Named {
        std::string name;
        std::string hash;
    };
    /// The names behind another, in their order.
    Result<std::vector<Named>> list(std::string_view space, std::string_view after,
                                    std::size_t most) const;
    Result<std::shared_ptr<const trigger::TriggerSet>> set(std::string_view hash);
    /// The trigger set that a standing run begins with, stored durably; nothing: there are none of
    /// this name.
    Result<std::optional<std::string>> standing(std::string_view run);
    Result<Definition> definition(std::string_view hash) const;

    /// How many names a namespace has.
    Result<std::size_t> count(std::string_view space) const;
    /// Lets no name of a namespace mean anything any more; durable when it returns. Runs keep what
    /// they are pinned to.
    Result<void> forget(std::string_view space);
    /// The same for one name.
    Result<void> forget(std::string_view space, std::string_view name);

    const trigger::Vocabulary& vocabulary() const { return vocabulary_; }

private:
    void put(const Definition& definition, const std::string& hash, store::Batch& batch) const;

    store::Store& store_;
    const trigger::Vocabulary& vocabulary_;
    FindMeaning find_other_;
    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const trigger::TriggerSet>, std::less<>> sets_;
};

} // namespace sluice::engine
