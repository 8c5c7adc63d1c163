#include "server/stepfunctions/arn.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace sluice::server::stepfunctions {

namespace {

constexpr auto name_characters_max = std::size_t{80};
constexpr auto head_parts = std::size_t{6}; // arn:aws:states:region:account:kind

constexpr std::pair<std::string_view, Arn::Kind> kind_names[] = {
    {"stateMachine", Arn::Kind::StateMachine},
    {"execution", Arn::Kind::Execution},
    {"express", Arn::Kind::Express},
    {"activity", Arn::Kind::Activity},
    {"mapRun", Arn::Kind::MapRun}};

std::vector<std::string> parts_of(std::string_view text) {
    auto parts = std::vector<std::string>{};
    for (;;) {
        auto colon = text.find(':');
        parts.emplace_back(text.substr(0, colon));
        if (colon == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(colon + 1);
    }
}

std::unexpected<Fault> invalid(std::string_view why, std::string_view text) {
    return refuse("InvalidArn", "Invalid Arn: '{}: {}'", why, replace_invalid_utf8(text));
}

/// How many parts may stand behind the kind.
bool is_count(Arn::Kind kind, std::size_t count) {
    switch (kind) {
        case Arn::Kind::StateMachine: return count == 1 || count == 2;
        case Arn::Kind::Activity: return count == 1;
        case Arn::Kind::Express: return count == 3;
        case Arn::Kind::Execution:
        case Arn::Kind::MapRun: return count == 2;
    }
    return false;
}

} // namespace

std::expected<Arn, Fault> Arn::parse(std::string_view text) {
    auto parts = parts_of(text);
    if (parts.size() < head_parts + 1 || parts[0] != "arn" || !parts[1].starts_with("aws")) {
        return invalid("Invalid ARN prefix", text);
    }
    if (parts[2] != "states") {
        return invalid("Not an ARN of this service", text);
    }
    const auto* found =
        std::ranges::find(kind_names, parts[5], &std::pair<std::string_view, Arn::Kind>::first);
    if (found == std::end(kind_names)) {
        return invalid("Invalid resource type", text);
    }
    auto arn = Arn{.kind = found->second, .name = parts[head_parts]};
    auto has_empty = std::ranges::any_of(parts.begin() + head_parts, parts.end(),
                                         [](const auto& part) { return part.empty(); });
    if (has_empty || !is_count(arn.kind, parts.size() - head_parts)) {
        return invalid("Invalid resource", text);
    }
    if (auto slash = arn.name.find('/'); slash != std::string::npos) {
        arn.label = arn.name.substr(slash + 1);
        arn.name.resize(slash);
    }
    if (parts.size() > head_parts + 1) {
        arn.qualifier = parts[head_parts + 1];
    }
    if (parts.size() > head_parts + 2) {
        arn.unique = parts[head_parts + 2];
    }
    return arn;
}

std::expected<Arn, Fault> Arn::parse(std::string_view text, Kind kind) {
    auto arn = TRY(parse(text));
    if (arn.kind != kind) {
        return invalid("Resource type not valid in this context", text);
    }
    return arn;
}

std::optional<std::uint64_t> Arn::version() const {
    auto number = std::uint64_t{0};
    const auto* end = qualifier.data() + qualifier.size();
    auto [at, error] = std::from_chars(qualifier.data(), end, number);
    return error == std::errc{} && at == end && number > 0 ? std::optional{number} : std::nullopt;
}

std::string ArnMaker::make(std::string_view kind, std::string_view rest) const {
    return fmt::format("arn:aws:states:{}:{}:{}:{}", region, account, kind, rest);
}

std::string ArnMaker::machine(std::string_view name, std::string_view qualifier) const {
    return make("stateMachine",
                qualifier.empty() ? std::string{name} : fmt::format("{}:{}", name, qualifier));
}

std::string ArnMaker::execution(std::string_view machine, std::string_view name) const {
    return make("execution", fmt::format("{}:{}", machine, name));
}

std::string ArnMaker::express(std::string_view machine, std::string_view name,
                              std::string_view unique) const {
    return make("express", fmt::format("{}:{}:{}", machine, name, unique));
}

std::string ArnMaker::activity(std::string_view name) const {
    return make("activity", name);
}

std::string ArnMaker::map_run(std::string_view machine, std::string_view label,
                              std::string_view id) const {
    return make("mapRun", fmt::format("{}/{}:{}", machine, label, id));
}

bool is_name(std::string_view name) {
    constexpr auto refused = std::string_view{"<>{}[]?*\"#%\\^|~`$&,;:/"};
    auto is_refused = [&](unsigned char letter) {
        return letter <= 0x20 || letter == 0x7F || refused.contains(static_cast<char>(letter));
    };
    auto characters =
        std::ranges::count_if(name, [](unsigned char byte) { return (byte & 0xC0U) != 0x80U; });
    return !name.empty() && static_cast<std::size_t>(characters) <= name_characters_max &&
           is_utf8(name) && std::ranges::none_of(name, is_refused);
}

} // namespace sluice::server::stepfunctions
