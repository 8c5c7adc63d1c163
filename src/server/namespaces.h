#pragma once

#include <functional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "server/documents.h"

namespace sluice::server {

/// The namespaces there are: `default`, and those that were made. May be used from any thread.
class Namespaces {
public:
    static constexpr auto kind = std::string_view{"namespace"};
    static constexpr auto name_bytes_max = std::size_t{100};

    /// The documents have been opened with our kind, and outlive it.
    explicit Namespaces(Documents& documents);

    /// After another process has changed it.
    void follow(const std::string& name);
    /// For the default one nothing is looked up.
    bool contains(std::string_view name) const;
    std::vector<Document> list() const;
    /// Durable when it returns, also when it was there. InvalidInput for a name that none can have.
    Result<void> put(const std::string& name, Value description);
    /// NotFound when there is none, InvalidInput for the default one; and whatever error `empty`
    /// has once nobody can use it any more, which brings it back.
    Result<void> remove(const std::string& name, const std::function<Result<void>()>& empty);

private:
    void set_known(const std::string& name, bool is_known);

    Documents& documents_;
    mutable std::shared_mutex mutex_;
    std::set<std::string, std::less<>> names_;
};

} // namespace sluice::server
