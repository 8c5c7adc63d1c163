#include "workflow/asl/internal/read/resource.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "workflow/asl/internal/read/integrations.h"

namespace sluice::workflow::asl::internal {

namespace {

/// Whether every `${` is closed; nothing when one is not.
std::optional<bool> has_placeholder(std::string_view text) {
    auto found = false;
    for (auto at = text.find("${"); at != std::string_view::npos; at = text.find("${", at)) {
        at = text.find('}', at);
        if (at == std::string_view::npos) {
            return std::nullopt;
        }
        found = true;
    }
    return found;
}

/// The parts between colons, except colons inside `${…}`; at most `count`, the last being the rest.
std::vector<std::string_view> split(std::string_view text, std::size_t count) {
    auto parts = std::vector<std::string_view>{};
    auto begin = std::size_t{0};
    auto is_inside = false;
    for (auto at = std::size_t{0}; at < text.size() && parts.size() + 1 < count; ++at) {
        if (text.substr(at).starts_with("${")) {
            is_inside = true;
        } else if (text[at] == '}') {
            is_inside = false;
        } else if (text[at] == ':' && !is_inside) {
            parts.push_back(text.substr(begin, at - begin));
            begin = at + 1;
        }
    }
    parts.push_back(text.substr(begin));
    return parts;
}

bool is_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char letter) {
        return letter > ' ' && letter != 0x7F;
    });
}

bool is_alias(std::string_view text) {
    return text == "$LATEST" || text.starts_with("${") ||
           (!text.empty() && std::ranges::all_of(text, [](char letter) {
               return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                      (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
           }));
}

/// `lambda:…:function:NAME:ALIAS`
std::optional<Resource> parse_function(std::string_view rest) {
    auto parts = split(rest, 4);
    auto has_alias = parts.size() == 3;
    if (parts.size() < 2 || parts.size() > 3 || parts[0] != "function" || !is_name(parts[1]) ||
        (has_alias && !is_alias(parts[2]))) {
        return std::nullopt;
    }
    return Resource{.service = "lambda", .action = "function", .target = std::string{parts[1]}};
}

std::optional<Pattern> take_pattern(std::string_view& action) {
    for (auto pattern : {Pattern::Sync2, Pattern::Sync, Pattern::WaitForTaskToken}) {
        if (action.ends_with(suffix_of(pattern))) {
            action.remove_suffix(suffix_of(pattern).size());
            return pattern;
        }
    }
    return action.contains('.') || action.contains(':') ? std::nullopt
                                                        : std::optional{Pattern::RequestResponse};
}

/// `SERVICE:ACTION.PATTERN`, or `aws-sdk:SERVICE:ACTION.PATTERN`
std::optional<Resource> parse_integration(std::string_view rest) {
    auto is_sdk = rest.starts_with("aws-sdk:");
    auto parts = split(rest, is_sdk ? 3 : 2);
    auto action = parts.back();
    auto pattern = take_pattern(action);
    if (!pattern || !is_name(action) || !is_name(parts[parts.size() - 2])) {
        return std::nullopt;
    }
    auto service = rest.substr(0, static_cast<std::size_t>(action.data() - rest.data()) - 1);
    auto has_placeholders = service.contains("${") || action.contains("${");
    if (!has_placeholders && !is_known_integration(service, action, *pattern)) {
        return std::nullopt;
    }
    return Resource{
        .service = std::string{service}, .action = std::string{action}, .pattern = *pattern};
}

std::optional<Resource> parse_states(std::string_view rest) {
    if (!rest.starts_with("activity:")) {
        return rest.contains(':') ? parse_integration(rest) : std::nullopt;
    }
    auto name = rest.substr(std::string_view{"activity:"}.size());
    return is_name(name) && !name.contains(':')
               ? std::optional{Resource{.service = "activity", .target = std::string{name}}}
               : std::nullopt;
}

/// Of an ARN that names no function and no integration, and of any other URI: a function.
Resource function_named(std::string_view name) {
    return {.service = "lambda", .action = "function", .target = std::string{name}};
}

std::optional<Resource> parse_arn(std::string_view text) {
    auto parts = split(text, 6);
    if (parts.size() < 6 || parts[1].empty() || parts[2].empty() || !is_name(parts[5])) {
        return std::nullopt;
    }
    if (parts[2] == "lambda") {
        return parse_function(parts[5]);
    }
    if (parts[2] == "states") {
        return parse_states(parts[5]);
    }
    return function_named(split(parts[5], parts[5].size() + 1).back());
}

/// `${Name}` is the function of that name, so that a template runs as it is.
std::string_view without_braces(std::string_view text) {
    return text.starts_with("${") && text.find('}') == text.size() - 1
               ? text.substr(2, text.size() - 3)
               : text;
}

std::optional<Resource> parse_text(std::string_view text, bool is_placeholder) {
    if (text.starts_with("arn:")) {
        return parse_arn(text);
    }
    if (is_placeholder || text.contains(':')) {
        return is_name(text) ? std::optional{function_named(without_braces(text))} : std::nullopt;
    }
    return is_name(text)
               ? std::optional{Resource{.service = "activity", .target = std::string{text}}}
               : std::nullopt;
}

} // namespace

std::string_view suffix_of(Pattern pattern) {
    switch (pattern) {
        case Pattern::RequestResponse: return "";
        case Pattern::Sync: return ".sync";
        case Pattern::Sync2: return ".sync:2";
        case Pattern::WaitForTaskToken: return ".waitForTaskToken";
    }
    return "";
}

std::optional<Resource> parse_resource(std::string_view text) {
    auto placeholder = has_placeholder(text);
    if (!placeholder) {
        return std::nullopt;
    }
    auto resource = parse_text(text, *placeholder);
    if (resource) {
        resource->has_placeholder = *placeholder;
    }
    return resource;
}

std::string_view object_action(std::string_view text) {
    if (text.starts_with("arn:")) {
        auto parts = split(text, 6);
        if (parts.size() == 6 && parts[2] == "states" && parts[5].starts_with("s3:")) {
            return parts[5];
        }
    }
    return {};
}

} // namespace sluice::workflow::asl::internal
