#include "engine/references.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <sodium.h>

#include "base/bytes.h"
#include "trigger/ids.h"
#include "value/binary.h"

namespace sluice::engine {

namespace {

constexpr auto object_format = std::uint8_t{1};
constexpr auto scheme = std::string_view{"sluice:object/"};
constexpr auto reference_member = std::string_view{"dataref"};
constexpr auto bytes_member = std::string_view{"bytes"};
constexpr auto name_digits = std::size_t{64};
constexpr auto seal_bytes = std::size_t{16};

/// Takes from `room` what the value needs, about; false as soon as that is not enough.
bool fits(const Value& value, std::size_t& room) {
    auto size = std::size_t{2};
    if (value.is_string()) {
        size += value.as_string().size();
    } else if (value.is_bytes()) {
        size += value.as_bytes().size();
    }
    if (size > room) {
        return false;
    }
    room -= size;
    if (value.is_list()) {
        for (const auto& item : value.as_list()) {
            if (!fits(item, room)) {
                return false;
            }
        }
    } else if (value.is_map()) {
        for (const auto& [key, member] : value.as_map()) {
            if (key.size() > room) {
                return false;
            }
            room -= key.size();
            if (!fits(member, room)) {
                return false;
            }
        }
    }
    return true;
}

} // namespace

store::ObjectOwner owner_of(const RunName& run) {
    auto id = std::string_view{run.id};
    while (trigger::is_nested_run_id(id) && !trigger::is_spread(id)) {
        id = id.substr(0, id.rfind('~'));
    }
    return {.space = run.space, .run = std::string{id}};
}

bool is_larger_than(const Value& value, std::size_t bytes) {
    return !fits(value, bytes);
}

bool may_be_kept(const Value& policy, const RunName& run) {
    const auto* large = policy.is_map() ? policy.find(large_member) : nullptr;
    return large != nullptr &&
           (*large == Value{large_kept} ||
            (*large == Value{large_kept_in_root} && !trigger::is_nested_run_id(run.id)));
}

std::string References::seal_of(std::string_view name, std::uint64_t bytes) const {
    auto content = fmt::format("{}{}/{}", scheme, name, bytes);
    auto seal = std::array<unsigned char, seal_bytes>{};
    crypto_generichash(seal.data(), seal.size(),
                       reinterpret_cast<const unsigned char*>(content.data()), content.size(),
                       secret_.data(), secret_.size());
    auto text = std::array<char, 2 * seal_bytes + 1>{};
    sodium_bin2hex(text.data(), text.size(), seal.data(), seal.size());
    return text.data();
}

Result<Value> References::put(const RunName& run, const Value& value) const {
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    out.u8(object_format);
    value::encode(value, out);
    auto name = TRY(objects_.put(owner_of(run), bytes));
    auto text = fmt::format("{}{}.{}", scheme, name, seal_of(name, bytes.size()));
    return Value::object({{std::string{reference_member}, text},
                          {std::string{bytes_member}, static_cast<std::int64_t>(bytes.size())}});
}

std::optional<References::Target> References::read(const Value& value) const {
    if (!value.is_map() || value.size() != 2) {
        return std::nullopt;
    }
    const auto* reference = value.find(reference_member);
    const auto* bytes = value.find(bytes_member);
    if (reference == nullptr || !reference->is_string() || bytes == nullptr || !bytes->is_int()) {
        return std::nullopt;
    }
    auto text = reference->as_string();
    if (text.size() != scheme.size() + name_digits + 1 + 2 * seal_bytes ||
        !text.starts_with(scheme)) {
        return std::nullopt;
    }
    auto target = Target{.name = text.substr(scheme.size(), name_digits),
                         .bytes = static_cast<std::uint64_t>(bytes->as_int())};
    auto seal = text.substr(scheme.size() + name_digits + 1);
    auto expected = seal_of(target.name, target.bytes);
    return sodium_memcmp(seal.data(), expected.data(), expected.size()) == 0 ? std::optional{target}
                                                                             : std::nullopt;
}

bool References::has_any(const Value& value) const {
    if (value.is_list()) {
        for (const auto& item : value.as_list()) {
            if (has_any(item)) {
                return true;
            }
        }
    } else if (value.is_map()) {
        if (read(value)) {
            return true;
        }
        for (const auto& [key, member] : value.as_map()) {
            if (has_any(member)) {
                return true;
            }
        }
    }
    return false;
}

Result<Value> References::load(const RunName& run, const Target& target,
                               std::uint64_t& room) const {
    if (target.bytes > room) {
        return fail(Errc::LimitExceeded,
                    "the results that stand here by reference have more than {} bytes in all: {} "
                    "has {}",
                    call_bytes_max, target.name, target.bytes);
    }
    room -= target.bytes;
    auto bytes = TRY(objects_.get(owner_of(run), target.name));
    auto in = Decoder{bytes};
    if (auto format = TRY(in.u8()); format != object_format) {
        return fail(Errc::Unsupported, "object {} has format {}: this program reads {}",
                    target.name, format, object_format);
    }
    return value::decode(in);
}

/// Nothing when there is no reference in it: then it is shared, not copied.
Result<std::optional<Value>> References::filled(const RunName& run, const Value& value,
                                                std::uint64_t& room) const {
    if (auto target = read(value)) {
        return TRY(load(run, *target, room));
    }
    if (value.is_list()) {
        auto given = value.as_list();
        auto items = std::vector<Value>{};
        for (auto at = std::size_t{0}; at < given.size(); ++at) {
            if (auto inner = TRY(filled(run, given[at], room))) {
                items = items.empty() ? std::vector(given.begin(), given.end()) : std::move(items);
                items[at] = *std::move(inner);
            }
        }
        return items.empty() ? std::nullopt : std::optional{Value::list(std::move(items))};
    }
    if (value.is_map()) {
        auto whole = std::optional<Value>{};
        for (const auto& [key, member] : value.as_map()) {
            if (auto inner = TRY(filled(run, member, room))) {
                whole = whole.value_or(value).with(key, *std::move(inner));
            }
        }
        return whole;
    }
    return std::nullopt;
}

Result<Value> References::fill(const RunName& run, const Value& value,
                               std::uint64_t bytes_max) const {
    auto inner = TRY(filled(run, value, bytes_max));
    return inner ? *std::move(inner) : value;
}

Value References::fill_or_leave(const RunName& run, const Value& value) const {
    auto inner = fill(run, value, shown_bytes_max);
    return inner ? *std::move(inner) : value;
}

} // namespace sluice::engine
