#include "server/documents.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "engine/keys.h"
#include "value/binary.h"

namespace sluice::server {

namespace {

constexpr auto document_format = std::uint8_t{1};

} // namespace

Result<std::unique_ptr<Documents>> Documents::open(store::Store& store,
                                                   const std::vector<std::string>& kinds) {
    auto documents = std::unique_ptr<Documents>{new Documents{store}};
    for (const auto& kind : kinds) {
        TRY(documents->load(kind));
    }
    return documents;
}

Result<void> Documents::load(const std::string& kind) {
    auto prefix = engine::keys::documents_of(kind);
    auto cursor = store_.scan(prefix, engine::keys::end_of(prefix));
    for (; cursor->is_valid(); cursor->next()) {
        auto place = Decoder{cursor->key().substr(prefix.size())};
        auto named = TRY(engine::keys::read_run(place));
        auto in = Decoder{cursor->value()};
        TRY(in.format(document_format, kind));
        auto content = TRY(value::decode(in));
        by_key_.try_emplace(
            std::string{cursor->key()},
            Document{.space = named.space, .name = named.id, .content = std::move(content)});
    }
    return cursor->status();
}

Result<void> Documents::put(std::string_view kind, Document document) {
    if (document.name.empty() || document.name.size() > name_bytes_max ||
        document.space.size() > name_bytes_max) {
        return fail(Errc::InvalidInput, "{} \"{}\": a name has 1 to {} bytes", kind, document.name,
                    name_bytes_max);
    }
    auto record = std::string{};
    auto out = Encoder{record};
    out.u8(document_format);
    value::encode(document.content, out);
    auto key = engine::keys::document(kind, document.space, document.name);

    auto lock = std::lock_guard{mutex_};
    auto batch = store_.make_batch();
    batch->put(key, record);
    TRY(store_.commit(*batch));
    TRY(store_.sync());
    by_key_.insert_or_assign(std::move(key), std::move(document));
    return {};
}

Result<void> Documents::remove(std::string_view kind, std::string_view space,
                               std::string_view name) {
    if (!find(kind, space, name)) {
        return fail(Errc::NotFound, "there is no {} \"{}\"", kind, name);
    }
    auto key = engine::keys::document(kind, space, name);
    auto lock = std::lock_guard{mutex_};
    auto batch = store_.make_batch();
    batch->remove(key);
    TRY(store_.commit(*batch));
    TRY(store_.sync());
    by_key_.erase(key);
    return {};
}

std::optional<Document> Documents::find(std::string_view kind, std::string_view space,
                                        std::string_view name) const {
    if (space.size() > name_bytes_max || name.size() > name_bytes_max) {
        return std::nullopt;
    }
    auto lock = std::lock_guard{mutex_};
    auto found = by_key_.find(engine::keys::document(kind, space, name));
    return found == by_key_.end() ? std::nullopt : std::optional{found->second};
}

std::vector<Document> Documents::list(std::string_view kind,
                                      std::optional<std::string_view> space) const {
    auto prefix = engine::keys::documents_of(kind);
    auto listed = std::vector<Document>{};
    auto lock = std::lock_guard{mutex_};
    for (auto at = by_key_.lower_bound(prefix);
         at != by_key_.end() && at->first.starts_with(prefix); ++at) {
        if (!space || at->second.space == *space) {
            listed.push_back(at->second);
        }
    }
    return listed;
}

Result<std::string> Documents::kind_in(std::string_view space,
                                       const std::vector<std::string>& besides) const {
    auto prefix = engine::keys::table(engine::keys::catalog_shard, 'U');
    auto cursor = store_.scan(prefix, engine::keys::end_of(prefix));
    for (; cursor->is_valid(); cursor->next()) {
        auto place = Decoder{cursor->key().substr(prefix.size())};
        auto [kind, owner] = TRY(engine::keys::read_run(place));
        if (owner == space && std::ranges::find(besides, kind) == besides.end()) {
            return kind;
        }
    }
    TRY(cursor->status());
    return std::string{};
}

} // namespace sluice::server
