#include "connector/kafka/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/nearest.h"
#include "connector/kafka/internal/names.h"
#include "connector/kafka/internal/properties.h"
#include "connector/kafka/internal/url_parts.h"
#include "value/json.h"

namespace sluice::connector::kafka {

namespace {

constexpr std::string_view creation_prefix = "create.";

constexpr auto parameters = std::to_array<std::string_view>(
    {"topics", "group", "consume", "reading", "start", "mode", "broker", "ca", "verify",
     "certificate", "key", "key_password", "replication"});

bool is_parameter(std::string_view name) {
    return std::ranges::find(parameters, name) != parameters.end() || name == "mechanism";
}

std::vector<std::string> split(std::string_view text, char separator) {
    auto parts = std::vector<std::string>{};
    while (true) {
        auto end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(end + 1);
    }
}

/// One of these words, by its place.
Result<std::size_t> choose(std::string_view name, std::string_view text,
                           std::initializer_list<std::string_view> words) {
    auto found = std::ranges::find(words, text);
    if (found != words.end()) {
        return static_cast<std::size_t>(found - words.begin());
    }
    auto expected = std::string{};
    for (auto word : words) {
        expected += (expected.empty() ? "" : " or ") + std::string{word};
    }
    return fail(Errc::InvalidInput, "{}: expected {}, found '{}'", name, expected, text);
}

Result<void> set_topics(Options& options, std::string_view text) {
    options.topics = split(text, ',');
    for (const auto& topic : options.topics) {
        if (!internal::is_topic_name(topic)) {
            return fail(Errc::InvalidInput,
                        "topics: expected names of letters, digits, '.', '_' and '-', at most 249 "
                        "of them, separated by commas; found '{}'",
                        topic);
        }
    }
    return {};
}

Result<void> set_replication(Options& options, std::string_view text) {
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), options.replication);
    if (code != std::errc{} || end != text.data() + text.size() || options.replication < 1 ||
        options.replication > 100) {
        return fail(Errc::InvalidInput, "replication: expected a number from 1 to 100, found '{}'",
                    text);
    }
    return {};
}

Result<void> set_parameter(Options& options, std::string_view name, std::string_view text) {
    if (text.empty()) {
        return fail(Errc::InvalidInput, "{}: expected a value, found nothing", name);
    }
    if (name == "topics") {
        return set_topics(options, text);
    }
    if (name == "replication") {
        return set_replication(options, text);
    }
    if (name == "consume") {
        options.consume = Consume(TRY(choose(name, text, {"positions", "group"})));
    } else if (name == "reading") {
        options.reading = Reading(TRY(choose(name, text, {"direct", "library"})));
    } else if (name == "start") {
        options.start = Start(TRY(choose(name, text, {"beginning", "end"})));
    } else if (name == "mode") {
        options.mode = Mode(TRY(choose(name, text, {"structured", "binary"})));
    } else if (name == "broker") {
        options.version = Version(TRY(choose(name, text, {"current", "0.9"})));
    } else if (name == "verify") {
        options.tls.is_verified = TRY(choose(name, text, {"true", "false"})) == 0;
    } else {
        auto& target = name == "group"         ? options.group
                       : name == "mechanism"   ? options.mechanism
                       : name == "ca"          ? options.tls.ca
                       : name == "certificate" ? options.tls.certificate
                       : name == "key"         ? options.tls.key
                                               : options.tls.key_password;
        target = text;
    }
    return {};
}

/// What a query may hold: parameters of ours, settings of topics to be made, and properties.
Result<void> set_named(Options& options, std::string_view name, std::string_view text) {
    if (is_parameter(name)) {
        return set_parameter(options, name, text);
    }
    if (name.starts_with(creation_prefix)) {
        options.creation.insert_or_assign(std::string{name.substr(creation_prefix.size())},
                                          std::string{text});
        return {};
    }
    if (internal::is_property_name(name)) {
        TRY(internal::check_property(name, text));
        options.settings.insert_or_assign(std::string{name}, std::string{text});
        return {};
    }
    auto near = nearest(name, parameters);
    return fail(Errc::InvalidInput,
                "unknown parameter '{}': expected {}, create.X for a setting of topics to be made, "
                "or a property of librdkafka",
                name, near.empty() ? "one that the reference names" : near);
}

Result<void> check_whole(const Options& options) {
    const auto& tls = options.tls;
    auto has_tls = !tls.ca.empty() || !tls.certificate.empty() || !tls.key.empty() ||
                   !tls.key_password.empty() || !tls.is_verified;
    if (has_tls && !tls.is_on) {
        return fail(Errc::InvalidInput,
                    "ca, certificate, key and verify are for TLS: write "
                    "kafkas:// instead of kafka://");
    }
    if (tls.certificate.empty() != tls.key.empty()) {
        return fail(Errc::InvalidInput, "expected both certificate and key, or neither");
    }
    if (options.version == Version::Kafka09 && options.mode == Mode::Binary) {
        return fail(Errc::InvalidInput, "mode: Kafka 0.9 has no headers: write structured");
    }
    if (!options.password.empty() && options.user.empty()) {
        return fail(Errc::InvalidInput,
                    "a password needs a user: write user:password@ before the "
                    "first host");
    }
    return {};
}

/// A member of a form as it would stand in a query.
Result<std::string> text_of(std::string_view name, const Value& value) {
    if (value.is_string()) {
        return std::string{value.as_string()};
    }
    if (value.is_bool() || value.is_int()) {
        return value::to_json(value);
    }
    if (!value.is_list() || value.size() == 0) {
        return fail(Errc::InvalidInput, "{}: expected a text, a number, true or false", name);
    }
    auto text = std::string{};
    for (const auto& each : value.as_list()) {
        if (!each.is_string()) {
            return fail(Errc::InvalidInput, "{}: expected a list of texts", name);
        }
        text += (text.empty() ? "" : ",") + std::string{each.as_string()};
    }
    return text;
}

Result<void> set_settings(Options& options, const Value& settings) {
    if (!settings.is_map()) {
        return fail(Errc::InvalidInput, "settings: expected properties of librdkafka by name");
    }
    for (const auto& [name, value] : settings.as_map()) {
        if (name.starts_with("sasl.kerberos.")) {
            return fail(Errc::InvalidInput,
                        "settings: '{}' makes the client run commands on this machine, so that "
                        "only a URL in the operator's configuration may have it",
                        name);
        }
        auto text = TRY(text_of(name, value));
        TRY(internal::check_property(name, text));
        options.settings.insert_or_assign(name, std::move(text));
    }
    return {};
}

Result<void> set_member(Options& options, std::string_view name, const Value& value) {
    if (name == "url") {
        return {};
    }
    if (name == "settings") {
        return set_settings(options, value);
    }
    auto text = TRY(text_of(name, value));
    if (name == "user") {
        options.user = text;
    } else if (name == "password") {
        options.password = text;
    } else if (name == "topic") {
        return set_parameter(options, "topics", text);
    } else if (is_parameter(name)) {
        return set_parameter(options, name, text);
    } else {
        auto known = std::vector<std::string_view>(parameters.begin(), parameters.end());
        known.insert(known.end(), {"url", "settings", "user", "password", "topic", "mechanism"});
        auto near = nearest(name, known);
        return fail(Errc::InvalidInput,
                    "unknown member '{}': expected {}; properties of "
                    "librdkafka stand in settings",
                    name, near.empty() ? "one that the reference names" : near);
    }
    return {};
}

Result<Options> read_url(std::string_view url) {
    auto parts = TRY(internal::split_url(url));
    auto options = Options{.brokers = std::move(parts.brokers),
                           .user = std::move(parts.user),
                           .password = std::move(parts.password)};
    options.tls.is_on = parts.is_secure;
    if (!parts.path.empty()) {
        if (!internal::is_topic_name(parts.path)) {
            return fail(Errc::InvalidInput,
                        "expected a topic behind the '/', of letters, digits, '.', '_' and '-', at "
                        "most 249 of them; found '{}'",
                        parts.path);
        }
        options.prefix = std::move(parts.path);
    }
    for (const auto& [name, text] : parts.query) {
        TRY(set_named(options, name, text));
    }
    return options;
}

} // namespace

Result<Options> parse_url(std::string_view url) {
    auto options = TRY(read_url(url));
    TRY(check_whole(options));
    return options;
}

Result<Options> parse_form(const Value& form) {
    const auto* url = form.find("url");
    if (url == nullptr || !url->is_string()) {
        return fail(Errc::InvalidInput,
                    "url: expected a text such as kafka://host:9092, beside other members");
    }
    auto options = TRY(read_url(url->as_string()));
    for (const auto& [name, value] : options.settings) {
        if (name.starts_with("sasl.kerberos.")) {
            return fail(Errc::InvalidInput, "url: '{}' is for the operator's configuration", name);
        }
    }
    for (const auto& [name, value] : form.as_map()) {
        TRY(set_member(options, name, value));
    }
    TRY(check_whole(options));
    return options;
}

} // namespace sluice::connector::kafka
