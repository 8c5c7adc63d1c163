#pragma once

#include <cstdint>
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
#include "value/value.h"

namespace sluice::server {

/// Something that was set up by name: a token, a route, a schedule.
struct Document {
    std::string space; ///< Empty: belongs to no namespace.
    std::string name;
    Value content;
};

/// Of which document something has changed: it is new, another, or gone.
struct DocumentChange {
    std::string kind;
    std::string space;
    std::string name;

    bool operator==(const DocumentChange&) const = default;
};

/// What people set up through the API, by kind, namespace and name: all of it in memory, and in the
/// store. Where several processes share the store, each has to `refresh` what it knows. May be used
/// from any thread.
class Documents {
public:
    static constexpr auto name_bytes_max = std::size_t{200};

    /// Reads all of these kinds. The store outlives it.
    static Result<std::unique_ptr<Documents>> open(store::Store& store,
                                                   const std::vector<std::string>& kinds);

    /// Durable when it returns; blocks for that. InvalidInput for a name that is empty or too long.
    Result<void> put(std::string_view kind, Document document);
    /// NotFound when there is none; durable when it returns.
    Result<void> remove(std::string_view kind, std::string_view space, std::string_view name);
    std::optional<Document> find(std::string_view kind, std::string_view space,
                                 std::string_view name) const;
    /// As the store has it now, whoever wrote it.
    Result<std::optional<Document>> fetch(std::string_view kind, std::string_view space,
                                          std::string_view name) const;
    /// In the order of their names; of all namespaces without one.
    std::vector<Document> list(std::string_view kind,
                               std::optional<std::string_view> space = std::nullopt) const;

    /// Takes up what other processes have changed since, and says what that was. Kinds that end in
    /// `_state` belong to whoever acts on them, and are looked at only with `Look::Again`.
    enum class Look : std::uint8_t { IfChanged, Again };
    Result<std::vector<DocumentChange>> refresh(Look look);

    /// A kind that a namespace has documents of in the store, whoever keeps them, besides these;
    /// empty: none.
    Result<std::string> kind_in(std::string_view space,
                                const std::vector<std::string>& besides) const;

private:
    struct Stored {
        std::string kind;
        Document document;
    };
    using ByKey = std::map<std::string, Stored, std::less<>>; ///< The keys they are stored under.

    Documents(store::Store& store, std::vector<std::string> kinds)
        : store_(store), kinds_(std::move(kinds)) {}

    Result<void> load(const std::string& kind, ByKey& into) const;
    Result<void> commit(std::string_view kind, store::Batch& batch);
    Result<std::string> stamp() const;
    std::vector<DocumentChange> replace(ByKey next);

    store::Store& store_;
    const std::vector<std::string> kinds_;
    mutable std::mutex mutex_; ///< Of what follows.
    ByKey by_key_;
    std::string seen_;          ///< The stamp of the last change that was taken up.
    std::uint64_t changes_ = 0; ///< Of our own.
};

} // namespace sluice::server
