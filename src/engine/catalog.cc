#include "engine/catalog.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/fingerprint.h"
#include "engine/keys.h"
#include "value/archive.h"
#include "value/json.h"

namespace sluice::engine {

namespace {

// Raised when the same definition would compile to triggers that decide differently.
constexpr auto compiler_number = 2;
constexpr auto catalog_format = std::uint8_t{1};
constexpr auto definition_bytes_max = std::uint64_t{4} << 30U;

std::string compress(std::string_view bytes) {
    auto packed = std::string(ZSTD_compressBound(bytes.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 1));
    return packed;
}

Result<std::string> decompress(std::string_view packed) {
    auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
        size > definition_bytes_max) {
        return fail(Errc::Corrupt, "a stored definition is no zstd frame");
    }
    auto bytes = std::string(size, '\0');
    auto read = ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
    if (ZSTD_isError(read) != 0 || read != size) {
        return fail(Errc::Corrupt, "a stored definition does not unpack");
    }
    return bytes;
}

Result<std::shared_ptr<const trigger::TriggerSet>> compile(const Definition& definition,
                                                           const trigger::Vocabulary& vocabulary) {
    auto problems = std::vector<trigger::Problem>{};
    auto spec = trigger::parse_set(definition.form, {}, problems);
    auto set = problems.empty()
                   ? trigger::TriggerSet::compile(std::move(spec), vocabulary, problems)
                   : nullptr;
    if (!set) {
        return std::unexpected(trigger::to_error(problems));
    }
    return set;
}

/// Names stand in keys, where they have at most 255 bytes.
constexpr auto name_bytes_max = std::size_t{250};

bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= name_bytes_max;
}

} // namespace

std::string Catalog::hash_of(const Definition& definition) {
    auto print =
        fingerprint(fmt::format("{}/{}/{}", definition.name, definition.language, compiler_number),
                    value::to_json(definition.form));
    return fmt::format("{:016x}{:016x}", print.high, print.low);
}

void Catalog::put(const Definition& definition, const std::string& hash,
                  store::Batch& batch) const {
    auto record = std::string{};
    auto out = Encoder{record};
    out.u8(catalog_format);
    auto body = std::string{};
    auto body_out = Encoder{body};
    value::encode_fields(definition, body_out);
    out.raw(compress(body));
    batch.put(keys::definition_set(hash), record);
}

Result<std::optional<std::string>> Catalog::standing(std::string_view run) {
    auto found = vocabulary_.standing.find(run.substr(0, run.find('/')));
    if (found == vocabulary_.standing.end()) {
        return std::nullopt;
    }
    auto definition =
        Definition{.name = found->first, .language = "standing", .form = found->second};
    auto hash = hash_of(definition);
    auto lock = std::lock_guard{mutex_};
    if (!TRY(store_.get(keys::definition_set(hash)))) {
        auto batch = store_.make_batch();
        put(definition, hash, *batch);
        TRY(store_.commit(*batch));
        TRY(store_.sync());
    }
    return hash;
}

Result<std::string> Catalog::add(std::string_view space, const Definition& definition,
                                 std::string hash) {
    if (!is_name(space) || !is_name(definition.name)) {
        return fail(Errc::InvalidInput,
                    "a definition and its namespace have names of 1 to {} bytes", name_bytes_max);
    }
    hash = hash.empty() ? hash_of(definition) : std::move(hash);
    auto set = TRY(compile(definition, vocabulary_));
    auto lock = std::lock_guard{mutex_};
    auto batch = store_.make_batch();
    put(definition, hash, *batch);
    batch->put(keys::definition_name(space, definition.name), hash);
    auto before = TRY(versions(space, definition.name));
    if (before.empty() || before.front().hash != hash) {
        auto number = before.empty() ? 1 : before.front().number + 1;
        batch->put(keys::definition_version(space, definition.name, number), hash);
    }
    TRY(store_.commit(*batch));
    TRY(store_.sync());
    sets_[hash] = std::move(set);
    return hash;
}

Result<std::string> Catalog::find(std::string_view space, std::string_view name) const {
    auto is_possible = is_name(space) && is_name(name);
    auto hash = is_possible ? TRY(store_.get(keys::definition_name(space, name))) : std::nullopt;
    if (!hash) {
        return fail(Errc::NotFound, "there is no definition \"{}\"", name);
    }
    return *std::move(hash);
}

Result<std::size_t> Catalog::count(std::string_view space) const {
    auto prefix = keys::definitions_of(space);
    auto cursor = store_.scan(prefix, keys::end_of(prefix));
    auto names = std::size_t{0};
    for (; cursor->is_valid(); cursor->next()) {
        ++names;
    }
    TRY(cursor->status());
    return names;
}

Result<void> Catalog::forget(std::string_view space) {
    auto lock = std::lock_guard{mutex_};
    auto batch = store_.make_batch();
    for (const auto& prefix : {keys::definitions_of(space), keys::definition_versions_of(space)}) {
        batch->remove_range(prefix, keys::end_of(prefix));
    }
    TRY(store_.commit(*batch));
    return store_.sync();
}

Result<void> Catalog::forget(std::string_view space, std::string_view name) {
    if (!is_name(space) || !is_name(name)) {
        return {};
    }
    auto lock = std::lock_guard{mutex_};
    auto batch = store_.make_batch();
    batch->remove(keys::definition_name(space, name));
    auto numbered = keys::definition_versions(space, name);
    batch->remove_range(numbered, keys::end_of(numbered));
    TRY(store_.commit(*batch));
    return store_.sync();
}

Result<std::vector<Catalog::Version>> Catalog::versions(std::string_view space,
                                                        std::string_view name) const {
    auto found = std::vector<Version>{};
    if (!is_name(space) || !is_name(name)) {
        return found;
    }
    auto prefix = keys::definition_versions(space, name);
    auto cursor = store_.scan(prefix, keys::end_of(prefix));
    for (; cursor->is_valid(); cursor->next()) {
        auto place = Decoder{cursor->key().substr(prefix.size())};
        found.push_back({.number = ~TRY(place.u64()), .hash = std::string{cursor->value()}});
    }
    TRY(cursor->status());
    return found;
}

Result<Catalog::Meaning> Catalog::meaning(std::string_view space, std::string_view name,
                                          std::string_view run) const {
    auto hash = find(space, name);
    if (hash) {
        return Meaning{.definition = std::string{name}, .hash = *std::move(hash)};
    }
    auto other = find_other_ ? find_other_(space, name, run) : std::nullopt;
    return other ? Result<Meaning>{*std::move(other)} : std::unexpected(hash.error());
}

Result<std::string> Catalog::find_version(std::string_view space, std::string_view name,
                                          std::string_view hash) const {
    auto all = TRY(versions(space, name));
    if (std::ranges::find(all, hash, &Version::hash) == all.end()) {
        return fail(Errc::NotFound, "the definition \"{}\" has no version {}", name, hash);
    }
    return std::string{hash};
}

Result<std::vector<Catalog::Named>> Catalog::list(std::string_view space, std::string_view after,
                                                  std::size_t most) const {
    auto found = std::vector<Named>{};
    auto prefix = keys::definitions_of(space);
    auto cursor = store_.scan(prefix, keys::end_of(prefix));
    for (; cursor->is_valid(); cursor->next()) {
        // A length goes before the name, so the order of keys is not that of names.
        auto name = cursor->key().substr(prefix.size() + 1);
        if (name > after) {
            found.push_back({.name = std::string{name}, .hash = std::string{cursor->value()}});
        }
    }
    TRY(cursor->status());
    std::ranges::sort(found, {}, &Named::name);
    found.resize(std::min(found.size(), most));
    return found;
}

Result<Definition> Catalog::definition(std::string_view hash) const {
    auto record = TRY(store_.get(keys::definition_set(hash)));
    if (!record) {
        return fail(Errc::NotFound, "there is no trigger set {}", hash);
    }
    auto in = Decoder{*record};
    auto format = TRY(in.u8());
    if (format != catalog_format) {
        return fail(Errc::Unsupported, "definition of format {}: this program reads {}", format,
                    catalog_format);
    }
    auto body = TRY(decompress(in.rest()));
    auto body_in = Decoder{body};
    return value::decode_fields<Definition>(body_in);
}

Result<std::shared_ptr<const trigger::TriggerSet>> Catalog::set(std::string_view hash) {
    auto lock = std::lock_guard{mutex_};
    if (auto found = sets_.find(hash); found != sets_.end()) {
        return found->second;
    }
    auto stored = TRY(definition(hash));
    auto compiled = TRY(compile(stored, vocabulary_));
    return sets_[std::string{hash}] = std::move(compiled);
}

} // namespace sluice::engine
