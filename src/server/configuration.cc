#include "server/configuration.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "secret/secrets.h"
#include "value/time_text.h"

namespace sluice::server {

namespace {

using Faults = std::vector<Configured::Fault>;
using List = std::vector<std::string>;

constexpr std::pair<std::string_view, unsigned> byte_units[] = {
    {"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"", 0}};
constexpr auto secret_bytes_min = std::size_t{16};

std::string join_names(std::string_view left, std::string_view right, char between) {
    return left.empty() ? std::string{right} : fmt::format("{}{}{}", left, between, right);
}

/// What may stand in a file behind `limits.`: `body`, …
std::vector<std::string_view> names_below(std::string_view begin) {
    auto names = std::vector<std::string_view>{};
    for (const auto& setting : settings()) {
        if (setting.name.starts_with(begin)) {
            auto rest = setting.name.substr(begin.size());
            rest = rest.substr(0, rest.find('.'));
            if (std::ranges::find(names, rest) == names.end()) {
                names.push_back(rest);
            }
        }
    }
    return names;
}

std::string unknown_name(std::string_view name, std::string_view begin) {
    auto known = names_below(begin);
    auto meant = nearest(name, known);
    return meant.empty()
               ? fmt::format("unknown setting, expected one of {}", fmt::join(known, ", "))
               : fmt::format("unknown setting: did you mean \"{}\"?", meant);
}

Result<std::uint64_t> parse_count(std::string_view text) {
    auto count = std::uint64_t{0};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
        return fail(Errc::InvalidInput, "expected a number");
    }
    return count;
}

Result<void> check_range(const Setting& setting, std::uint64_t count) {
    if (count < setting.least || count > setting.most) {
        return setting.most == INT64_MAX
                   ? fail(Errc::InvalidInput, "expected at least {}", setting.least)
                   : fail(Errc::InvalidInput, "expected {} to {}", setting.least, setting.most);
    }
    return {};
}

List split(std::string_view text) {
    auto parts = List{};
    while (!text.empty()) {
        auto part = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        if (!part.empty()) {
            parts.emplace_back(part);
        }
    }
    return parts;
}

/// Reads a text into a field of whatever kind.
struct Reader {
    const Setting& setting;
    std::string_view text;

    Result<void> operator()(std::string& value) const {
        if (!setting.choices.empty() &&
            std::ranges::find(setting.choices, text) == setting.choices.end()) {
            return fail(Errc::InvalidInput, "expected {}", fmt::join(setting.choices, ", "));
        }
        if (setting.is_secret && !text.empty() && text.size() < secret_bytes_min) {
            return fail(Errc::InvalidInput,
                        "expected at least {} bytes: make one with `sluice "
                        "token create`",
                        secret_bytes_min);
        }
        value = text;
        return {};
    }
    Result<void> operator()(std::uint64_t& value) const {
        value = TRY(parse_count(text));
        return check_range(setting, value);
    }
    Result<void> operator()(bool& value) const {
        if (text != "true" && text != "false") {
            return fail(Errc::InvalidInput, "expected true or false");
        }
        value = text == "true";
        return {};
    }
    Result<void> operator()(Bytes& value) const {
        value = TRY(parse_bytes(text));
        return check_range(setting, value.count);
    }
    Result<void> operator()(Nanos& value) const {
        auto duration = value::parse_duration(text);
        if (!duration || *duration < Nanos{0}) {
            return fail(Errc::InvalidInput, "expected a duration such as 30s");
        }
        value = *duration;
        return {};
    }
    Result<void> operator()(List& value) const {
        value = split(text);
        return {};
    }
    Result<void> operator()(std::vector<ConfiguredToken>& /*value*/) const {
        return fail(Errc::InvalidInput, "this is set in a file only");
    }
};

struct Writer {
    std::string operator()(const std::string& value) const { return value; }
    std::string operator()(std::uint64_t value) const { return fmt::format("{}", value); }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(Bytes value) const { return format_bytes(value); }
    std::string operator()(Nanos value) const { return value::format_duration(value); }
    std::string operator()(const List& value) const {
        return fmt::format("{}", fmt::join(value, ","));
    }
    std::string operator()(const std::vector<ConfiguredToken>& value) const {
        auto names = List{};
        std::ranges::transform(value, std::back_inserter(names),
                               [](const auto& token) { return token.info.name; });
        return (*this)(names);
    }
};

/// One text from what YAML read as a number, a truth value or a text, or from a list of them.
std::optional<std::string> text_of(const Value& value) {
    if (value.is_string()) {
        return std::string{value.as_string()};
    }
    if (value.is_bool()) {
        return value.as_bool() ? "true" : "false";
    }
    if (value.is_int()) {
        return fmt::format("{}", value.as_int());
    }
    if (!value.is_list()) {
        return std::nullopt;
    }
    auto items = List{};
    for (const auto& item : value.as_list()) {
        if (!item.is_string()) {
            return std::nullopt;
        }
        items.emplace_back(item.as_string());
    }
    return fmt::format("{}", fmt::join(items, ","));
}

/// `redis://user:…@host`
std::string without_password(std::string url) {
    auto begin = url.find("://");
    auto end = url.find('@');
    if (begin == std::string::npos || end == std::string::npos) {
        return url;
    }
    auto colon = url.find(':', begin + 3);
    return colon < end ? url.replace(colon + 1, end - colon - 1, "…") : url;
}

} // namespace

Result<Bytes> parse_bytes(std::string_view text) {
    for (auto [unit, shift] : byte_units) {
        if (!text.ends_with(unit)) {
            continue;
        }
        auto count = parse_count(text.substr(0, text.size() - unit.size()));
        if (count && *count <= (UINT64_MAX >> shift)) {
            return Bytes{*count << shift};
        }
    }
    return fail(Errc::InvalidInput, "expected a size such as 4MiB, 64KiB or 1000");
}

std::string format_bytes(Bytes bytes) {
    for (auto [unit, shift] : byte_units) {
        auto one = std::uint64_t{1} << shift;
        if (bytes.count >= one && bytes.count % one == 0) {
            return fmt::format("{}{}", bytes.count >> shift, unit);
        }
    }
    return "0";
}

Result<void> Configured::set(const Setting& setting, std::string_view text, Origin origin) {
    TRY(std::visit(
        [&](auto member) -> Result<void> { return Reader{setting, text}(values_.*member); },
        setting.field));
    origins_[setting.name] = origin;
    return {};
}

Faults Configured::read_file(const Value& form) {
    auto faults = Faults{};
    if (!form.is_null() && !form.is_map()) {
        faults.push_back({"", "expected settings by name, such as `listen: 127.0.0.1:8080`"});
    } else if (form.is_map()) {
        read_level(form, "", faults);
    }
    return faults;
}

void Configured::read_level(const Value& form, const std::string& path, Faults& faults) {
    auto begin = path.empty() ? std::string{} : path + ".";
    auto known = names_below(begin);
    for (const auto& [key, value] : form.as_map()) {
        auto place = join_names(path, key, '/');
        if (const auto* setting = setting_named(begin + std::string{key})) {
            read_member(*setting, value, place, faults);
        } else if (std::ranges::find(known, key) == known.end()) {
            faults.push_back({place, unknown_name(key, begin)});
        } else if (!value.is_map()) {
            faults.push_back({place, fmt::format("expected a map of {}",
                                                 fmt::join(names_below(place + "."), ", "))});
        } else {
            read_level(value, place, faults);
        }
    }
}

void Configured::read_member(const Setting& setting, const Value& value, const std::string& path,
                             Faults& faults) {
    if (const auto* list =
            std::get_if<std::vector<ConfiguredToken> Configuration::*>(&setting.field)) {
        values_.*(*list) = read_tokens(value, path, faults);
        origins_[setting.name] = Origin::File;
        return;
    }
    auto text = text_of(value);
    auto is_list = std::holds_alternative<List Configuration::*>(setting.field);
    if (!text || (value.is_list() && !is_list)) {
        faults.push_back({path, fmt::format("expected {}", setting.form)});
        return;
    }
    if (setting.is_secret && !secret::Secrets::has_reference(*text)) {
        faults.push_back({path,
                          "a secret does not stand in a file: refer to it with "
                          "${secret:NAME}"});
        return;
    }
    if (auto done = set(setting, *text, Origin::File); !done) {
        faults.push_back({path, done.error().message});
    }
}

Result<void> Configured::read_environment(const Texts& variables) {
    for (const auto& setting : settings()) {
        auto name = setting.variable();
        auto found = name.empty() ? variables.end() : variables.find(name);
        if (found == variables.end()) {
            continue;
        }
        if (auto done = set(setting, found->second, Origin::Environment); !done) {
            return fail(Errc::InvalidInput, "{}={}: {}", name,
                        setting.is_secret ? "…" : found->second, done.error().message);
        }
    }
    return {};
}

Result<void> Configured::read_flags(const Texts& flags) {
    for (const auto& [name, text] : flags) {
        const auto* setting = setting_named(name);
        if (setting == nullptr) {
            return fail(Errc::Internal, "there is no setting {}", name);
        }
        if (auto done = set(*setting, text, Origin::Flag); !done) {
            return fail(Errc::InvalidInput, "{} {}: {}", setting->flag(), text,
                        done.error().message);
        }
    }
    return {};
}

Result<void> Configured::check() const {
    if (values_.tls_certificate.empty() != values_.tls_key.empty()) {
        return fail(Errc::InvalidInput, "tls: set both certificate and key, or neither");
    }
    auto names = std::set<std::string_view>{};
    for (const auto& token : values_.tokens) {
        if (!names.insert(token.info.name).second) {
            return fail(Errc::InvalidInput, "tokens: \"{}\" is there twice", token.info.name);
        }
    }
    return {};
}

Origin Configured::origin(const Setting& setting) const {
    auto found = origins_.find(setting.name);
    return found == origins_.end() ? Origin::Default : found->second;
}

std::string Configured::text(const Setting& setting) const {
    auto text = std::visit([&](auto member) { return Writer{}(values_.*member); }, setting.field);
    if (setting.has_password) {
        return without_password(std::move(text));
    }
    return setting.is_secret && !text.empty() ? "(set)" : text;
}

Value Configured::view() const {
    auto members = std::vector<value::Member>{};
    for (const auto& setting : settings()) {
        members.push_back(
            {std::string{setting.name},
             Value::object({{"value", text(setting)}, {"origin", to_string(origin(setting))}})});
    }
    return Value::map(std::move(members));
}

std::vector<const Setting*> Configured::differences(const Configured& other) const {
    auto found = std::vector<const Setting*>{};
    for (const auto& setting : settings()) {
        auto is_same = std::visit(
            [&](auto member) { return values_.*member == other.values_.*member; }, setting.field);
        if (!is_same) {
            found.push_back(&setting);
        }
    }
    return found;
}

} // namespace sluice::server
