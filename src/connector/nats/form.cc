#include "connector/nats/form.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace sluice::connector::nats {

namespace {

constexpr auto subject_bytes_max = std::size_t{255};

Result<std::string> text_of(std::string_view name, const Value& value) {
    switch (value.kind()) {
        case value::Kind::String: return std::string{value.as_string()};
        case value::Kind::Bool: return std::string{value.as_bool() ? "true" : "false"};
        case value::Kind::Int: return fmt::format("{}", value.as_int());
        default:
            return fail(Errc::InvalidInput, "{} is {}: write a text, a number or true or false",
                        name, value::to_string(value.kind()));
    }
}

bool is_token(std::string_view token) {
    return !token.empty() && std::ranges::all_of(token, [](char letter) {
        return letter > ' ' && letter != '\x7F' && letter != '*' && letter != '>';
    });
}

/// With `*` for one part and `>` for all that follow.
bool is_pattern(std::string_view subject) {
    if (subject.size() > subject_bytes_max) {
        return false;
    }
    while (true) {
        auto dot = subject.find('.');
        auto token = subject.substr(0, dot);
        auto is_last = dot == std::string_view::npos;
        if (token != "*" && !(token == ">" && is_last) && !is_token(token)) {
            return false;
        }
        if (is_last) {
            return true;
        }
        subject.remove_prefix(dot + 1);
    }
}

Result<std::string> name_of(std::string_view member, const Value& value) {
    auto name = TRY(text_of(member, value));
    if (!is_token(name) || name.find_first_of("./\\") != std::string::npos ||
        name.size() > subject_bytes_max) {
        return fail(Errc::InvalidInput, "{} is '{}': write a name without spaces, '.', '*' and '>'",
                    member, name);
    }
    return name;
}

Result<std::string> pattern_of(std::string_view member, const Value& value) {
    auto pattern = TRY(text_of(member, value));
    if (!is_pattern(pattern)) {
        return fail(Errc::InvalidInput,
                    "{} is '{}': write a subject such as orders.eu, orders.* or orders.>", member,
                    pattern);
    }
    return pattern;
}

Result<std::vector<std::string>> names_of(std::string_view member, const Value& value) {
    auto names = std::vector<std::string>{};
    if (!value.is_list() || value.as_list().empty()) {
        return fail(Errc::InvalidInput, "{} lists no stream: write [\"ORDERS\"]", member);
    }
    for (const auto& item : value.as_list()) {
        names.push_back(TRY(name_of(member, item)));
    }
    return names;
}

/// Whether the value is the first of two words.
Result<bool> is_first_of(std::string_view member, const Value& value, std::string_view first,
                         std::string_view second) {
    auto word = TRY(text_of(member, value));
    if (word != first && word != second) {
        return fail(Errc::InvalidInput, "{} is '{}': write {} or {}", member, word, first, second);
    }
    return word == first;
}

/// Takes a member that is not one of the server's; false: it is not one of these either.
using Take = std::function<Result<bool>(std::string_view name, const Value& value)>;

Result<void> read_members(const Value& form, Options& server, const Take& take) {
    const auto* url = form.find("url");
    if (url == nullptr || !url->is_string()) {
        return fail(Errc::InvalidInput,
                    "url is missing: write {{\"url\": \"nats://host:4222\", …}}");
    }
    server = TRY(parse_url(url->as_string()));
    for (const auto& [name, value] : form.as_map()) {
        if (name == "url" || TRY(take(name, value))) {
            continue;
        }
        auto text = TRY(text_of(name, value));
        TRY(set_option(server, name, text));
    }
    return check_options(server);
}

Result<bool> take_source_member(SourceOptions& source, std::string_view name, const Value& value) {
    if (name == "stream") {
        source.streams.push_back(TRY(name_of(name, value)));
    } else if (name == "streams") {
        auto names = TRY(names_of(name, value));
        source.streams.insert(source.streams.end(), names.begin(), names.end());
    } else if (name == "filter") {
        source.filter = TRY(pattern_of(name, value));
    } else if (name == "consumer") {
        source.consumer = TRY(name_of(name, value));
    } else if (name == "subject") {
        source.subject = TRY(pattern_of(name, value));
    } else if (name == "queue") {
        source.queue = TRY(name_of(name, value));
    } else if (name == "start") {
        source.start = TRY(is_first_of(name, value, "first", "new")) ? Start::First : Start::New;
    } else if (name == "trimmed") {
        source.trimmed =
            TRY(is_first_of(name, value, "refuse", "skip")) ? Trimmed::Refuse : Trimmed::Skip;
    } else {
        return false;
    }
    return true;
}

} // namespace

bool is_plain_subject(std::string_view subject) {
    return is_pattern(subject) && subject.find_first_of("*>") == std::string_view::npos;
}

Result<SourceOptions> parse_source(const Value& form) {
    auto source = SourceOptions{};
    TRY(read_members(form, source.server, [&](auto name, const auto& value) {
        return take_source_member(source, name, value);
    }));
    if (source.streams.empty() == source.subject.empty()) {
        return fail(Errc::InvalidInput,
                    "give either stream, for JetStream, or subject, for plain NATS");
    }
    if (!source.subject.empty() && (!source.consumer.empty() || !source.filter.empty())) {
        return fail(Errc::InvalidInput,
                    "consumer and filter are for streams: leave them out, or "
                    "write stream instead of subject");
    }
    if (!source.queue.empty() && source.subject.empty()) {
        return fail(Errc::InvalidInput,
                    "queue is for a subject: name a consumer to share a stream");
    }
    if (!source.consumer.empty() && !source.filter.empty()) {
        return fail(Errc::InvalidInput, "the consumer has its own filter: leave filter out");
    }
    std::ranges::sort(source.streams);
    auto again = std::ranges::adjacent_find(source.streams);
    if (again != source.streams.end()) {
        return fail(Errc::InvalidInput, "the stream {} is named twice", *again);
    }
    return source;
}

Result<SinkOptions> parse_sink(const Value& form) {
    auto sink = SinkOptions{};
    TRY(read_members(form, sink.server, [&](auto name, const auto& value) -> Result<bool> {
        if (name == "subject") {
            sink.subject = TRY(text_of(name, value));
        } else if (name == "core") {
            auto text = TRY(text_of(name, value));
            sink.is_core = TRY(parse_bool(name, text));
        } else {
            return false;
        }
        return true;
    }));
    if (!is_plain_subject(sink.subject)) {
        return fail(Errc::InvalidInput,
                    "subject is '{}': write where events go, such as orders.done", sink.subject);
    }
    return sink;
}

} // namespace sluice::connector::nats
