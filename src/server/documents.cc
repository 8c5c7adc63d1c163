#include "server/documents.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "engine/keys.h"
#include "server/access.h"
#include "value/binary.h"

namespace sluice::server {

namespace {

constexpr auto document_format = std::uint8_t{1};
/// Its only document says who changed something last; it has no content that could be decoded.
constexpr auto stamp_kind = std::string_view{"changed"};
constexpr auto state_suffix = std::string_view{"_state"};

Result<Value> content_in(std::string_view record, std::string_view kind) {
    auto in = Decoder{record};
    TRY(in.format(document_format, kind));
    return value::decode(in);
}

} // namespace

Result<std::unique_ptr<Documents>> Documents::open(store::Store& store,
                                                   const std::vector<std::string>& kinds) {
    auto documents = std::unique_ptr<Documents>{new Documents{store, kinds}};
    std::ignore = TRY(documents->refresh(Look::Again));
    return documents;
}

Result<void> Documents::load(const std::string& kind, ByKey& into) const {
    auto prefix = engine::keys::documents_of(kind);
    auto cursor = store_.scan(prefix, engine::keys::end_of(prefix));
    for (; cursor->is_valid(); cursor->next()) {
        auto place = Decoder{cursor->key().substr(prefix.size())};
        auto named = TRY(engine::keys::read_run(place));
        auto content = TRY(content_in(cursor->value(), kind));
        into.try_emplace(
            std::string{cursor->key()},
            Stored{kind, {.space = named.space, .name = named.id, .content = std::move(content)}});
    }
    return cursor->status();
}

/// Changes from before the scan may be in it already, those behind it come with the next stamp.
Result<std::vector<DocumentChange>> Documents::refresh(Look look) {
    auto stamp = TRY(this->stamp());
    auto lock = std::unique_lock{mutex_};
    if (look == Look::IfChanged && stamp == seen_) {
        return std::vector<DocumentChange>{};
    }
    auto changes = changes_;
    auto next = ByKey{};
    lock.unlock();
    for (const auto& kind : kinds_) {
        TRY(load(kind, next));
    }
    lock.lock();
    if (changes != changes_) {
        return std::vector<DocumentChange>{}; // What was read may be older than what we wrote.
    }
    seen_ = std::move(stamp);
    return replace(std::move(next));
}

std::vector<DocumentChange> Documents::replace(ByKey next) {
    auto changed = std::vector<DocumentChange>{};
    auto add = [&](const Stored& each) {
        changed.push_back({each.kind, each.document.space, each.document.name});
    };
    for (const auto& [key, each] : by_key_) {
        if (!next.contains(key)) {
            add(each);
        }
    }
    for (const auto& [key, each] : next) {
        auto before = by_key_.find(key);
        if (before == by_key_.end() || before->second.document.content != each.document.content) {
            add(each);
        }
    }
    by_key_ = std::move(next);
    return changed;
}

Result<std::string> Documents::stamp() const {
    return TRY(store_.get(engine::keys::document(stamp_kind, "", stamp_kind))).value_or("");
}

/// With a stamp that nobody has seen, unless it is of those who act on it alone.
Result<void> Documents::commit(std::string_view kind, store::Batch& batch) {
    ++changes_;
    if (!kind.ends_with(state_suffix)) {
        batch.put(engine::keys::document(stamp_kind, "", stamp_kind), TokenTable::make_secret());
    }
    TRY(store_.commit(batch));
    return store_.sync();
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
    TRY(commit(kind, *batch));
    by_key_.insert_or_assign(std::move(key), Stored{std::string{kind}, std::move(document)});
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
    TRY(commit(kind, *batch));
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
    return found == by_key_.end() ? std::nullopt : std::optional{found->second.document};
}

Result<std::optional<Document>> Documents::fetch(std::string_view kind, std::string_view space,
                                                 std::string_view name) const {
    auto record = TRY(store_.get(engine::keys::document(kind, space, name)));
    if (!record) {
        return std::optional<Document>{};
    }
    auto content = TRY(content_in(*record, kind));
    return std::optional{Document{std::string{space}, std::string{name}, std::move(content)}};
}

std::vector<Document> Documents::list(std::string_view kind,
                                      std::optional<std::string_view> space) const {
    auto prefix = engine::keys::documents_of(kind);
    auto listed = std::vector<Document>{};
    auto lock = std::lock_guard{mutex_};
    for (auto at = by_key_.lower_bound(prefix);
         at != by_key_.end() && at->first.starts_with(prefix); ++at) {
        if (const auto& document = at->second.document; !space || document.space == *space) {
            listed.push_back(document);
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
