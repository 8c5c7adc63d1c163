#include "server/namespaces.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "engine/keys.h"

namespace sluice::server {

namespace {

/// It stands in paths, keys and idempotency keys.
bool is_namespace_name(std::string_view name) {
    auto is_plain = [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
    };
    return !name.empty() && name.size() <= Namespaces::name_bytes_max && is_plain(name.front()) &&
           std::ranges::all_of(name, [&](char letter) {
               return is_plain(letter) || letter == '-' || letter == '_' || letter == '.';
           });
}

bool is_default(std::string_view name) {
    static const auto known = engine::RunName{}.space;
    return name == known;
}

} // namespace

Namespaces::Namespaces(Documents& documents) : documents_(documents) {
    for (auto& document : documents_.list(kind)) {
        names_.insert(std::move(document.name));
    }
}

void Namespaces::follow(const std::string& name) {
    set_known(name, documents_.find(kind, "", name).has_value());
}

bool Namespaces::contains(std::string_view name) const {
    if (is_default(name)) {
        return true;
    }
    auto lock = std::shared_lock{mutex_};
    return names_.contains(name);
}

std::vector<Document> Namespaces::list() const {
    auto listed = documents_.list(kind);
    auto is_there = [](const Document& each) { return is_default(each.name); };
    if (std::ranges::none_of(listed, is_there)) {
        listed.insert(listed.begin(),
                      Document{.space = "", .name = engine::RunName{}.space, .content = {}});
    }
    return listed;
}

Result<void> Namespaces::put(const std::string& name, Value description) {
    if (!is_namespace_name(name)) {
        return fail(Errc::InvalidInput,
                    "namespace \"{}\": expected 1 to {} lower-case letters, digits, '-', '_' and "
                    "'.', a letter or digit first",
                    name, name_bytes_max);
    }
    TRY(documents_.put(kind, {.space = "", .name = name, .content = std::move(description)}));
    set_known(name, true);
    return {};
}

Result<void> Namespaces::remove(const std::string& name,
                                const std::function<Result<void>()>& empty) {
    if (is_default(name)) {
        return fail(Errc::InvalidInput, "the namespace {} is always there", name);
    }
    if (!contains(name)) {
        return fail(Errc::NotFound, "there is no namespace \"{}\"", name);
    }
    set_known(name, false);
    auto removed = empty();
    if (removed) {
        removed = documents_.remove(kind, "", name);
    }
    if (!removed) {
        set_known(name, true);
    }
    return removed;
}

void Namespaces::set_known(const std::string& name, bool is_known) {
    auto lock = std::lock_guard{mutex_};
    if (is_known) {
        names_.insert(name);
    } else {
        names_.erase(name);
    }
}

} // namespace sluice::server
