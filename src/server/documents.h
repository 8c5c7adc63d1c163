#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
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

/// What people set up through the API, by kind, namespace and name: all of it in memory, and in the
/// store. May be used from any thread.
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
    /// In the order of their names; of all namespaces without one.
    std::vector<Document> list(std::string_view kind,
                               std::optional<std::string_view> space = std::nullopt) const;

    /// A kind that a namespace has documents of in the store, whoever keeps them, besides these;
    /// empty: none.
    Result<std::string> kind_in(std::string_view space,
                                const std::vector<std::string>& besides) const;

private:
    explicit Documents(store::Store& store) : store_(store) {}

    Result<void> load(const std::string& kind);

    store::Store& store_;
    mutable std::mutex mutex_;
    std::map<std::string, Document, std::less<>> by_key_; ///< The keys they are stored under.
};

} // namespace sluice::server
