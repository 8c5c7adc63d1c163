#include "server/internal/requests.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sodium.h>

#include "value/time_text.h"

namespace sluice::server {

namespace {

constexpr auto limit_default = std::size_t{100};
constexpr auto limit_max = std::size_t{1'000};

template <typename Number>
bool parse_whole(std::string_view text, Number& number) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size();
}

Result<trigger::Status> read_status(std::string_view text) {
    for (auto status :
         {trigger::Status::Running, trigger::Status::Succeeded, trigger::Status::Failed,
          trigger::Status::Cancelled, trigger::Status::TimedOut, trigger::Status::Queued}) {
        if (text == to_string(status)) {
            return status;
        }
    }
    return fail(Errc::InvalidInput,
                "status={}: expected queued, running, succeeded, failed, cancelled or timed out",
                text);
}

Result<Time> read_time(std::string_view name, std::string_view text) {
    auto time = value::parse_time(text);
    if (!time) {
        return fail(Errc::InvalidInput, "{}={}: expected a time such as 2026-11-15T05:57:30Z", name,
                    text);
    }
    return *time;
}

bool has_label(const Value& labels, std::string_view label) {
    auto equals = label.find('=');
    const auto* found = labels.is_map() ? labels.find(label.substr(0, equals)) : nullptr;
    return found != nullptr && *found == Value{label.substr(equals + 1)};
}

Result<void> add_label(RunQuery& query, const std::string& label) {
    auto equals = label.find('=');
    if (equals == 0 || equals == std::string::npos) {
        return fail(Errc::InvalidInput, "label={}: expected key=value", label);
    }
    if (query.filter.label.empty()) {
        query.filter.label = label;
    } else {
        query.labels.push_back(label);
    }
    return {};
}

/// Whether it is a parameter of the run index.
Result<bool> read_filter(RunQuery& query, const std::string& name, const std::string& text) {
    auto& filter = query.filter;
    if (name == "definition") {
        filter.definition = text;
    } else if (name == "label") {
        TRY(add_label(query, text));
    } else if (name == "cursor") {
        filter.cursor = text;
    } else if (name == "status") {
        filter.status = TRY(read_status(text));
    } else if (name == "started_after") {
        filter.started_since = TRY(read_time(name, text));
    } else if (name == "started_before") {
        filter.started_until = TRY(read_time(name, text));
    } else if (name == "ended_after") {
        filter.ended_since = TRY(read_time(name, text));
    } else if (name == "ended_before") {
        filter.ended_until = TRY(read_time(name, text));
    } else {
        return false;
    }
    return true;
}

} // namespace

engine::RunName name_of(const Incoming& incoming) {
    return {.space = incoming.space, .id = incoming.part("run")};
}

Result<void> check_query(const Incoming& incoming, std::initializer_list<std::string_view> known) {
    for (const auto& [name, text] : incoming.target.query) {
        if (name != "namespace" && std::ranges::find(known, name) == known.end()) {
            return fail(Errc::InvalidInput, "there is no parameter {}{}{}", name,
                        known.size() == 0 ? "" : ": expected ", fmt::join(known, ", "));
        }
    }
    return {};
}

Result<std::optional<std::uint64_t>> read_number(const Incoming& incoming, std::string_view name) {
    const auto* text = incoming.query(name);
    auto number = std::uint64_t{0};
    if (text == nullptr) {
        return std::nullopt;
    }
    if (!parse_whole(*text, number)) {
        return fail(Errc::InvalidInput, "{}={}: expected a whole number", name, *text);
    }
    return number;
}

Result<std::size_t> read_limit(const Incoming& incoming) {
    const auto* text = incoming.query("limit");
    auto limit = limit_default;
    if (text != nullptr && (!parse_whole(*text, limit) || limit == 0 || limit > limit_max)) {
        return fail(Errc::InvalidInput, "limit={}: expected 1 to {}", *text, limit_max);
    }
    return limit;
}

Result<bool> read_flag(const Incoming& incoming, std::string_view name) {
    const auto* text = incoming.query(name);
    if (text != nullptr && *text != "true" && *text != "false") {
        return fail(Errc::InvalidInput, "{}={}: expected true or false", name, *text);
    }
    return text != nullptr && *text == "true";
}

Result<std::optional<Nanos>> read_duration(const Incoming& incoming, std::string_view name) {
    const auto* text = incoming.query(name);
    if (text == nullptr) {
        return std::nullopt;
    }
    auto duration = value::parse_duration(*text);
    if (!duration || *duration < Nanos{0}) {
        return fail(Errc::InvalidInput, "{}={}: expected a duration such as 30s", name, *text);
    }
    return *duration;
}

bool RunQuery::matches(const engine::RunSummary& summary) const {
    return std::ranges::all_of(labels,
                               [&](const auto& label) { return has_label(summary.labels, label); });
}

Result<RunQuery> read_run_query(const Incoming& incoming,
                                std::initializer_list<std::string_view> others) {
    auto query = RunQuery{.filter = {.space = incoming.space}, .labels = {}};
    query.filter.most = TRY(read_limit(incoming));
    for (const auto& [name, text] : incoming.target.query) {
        auto is_known = TRY(read_filter(query, name, text)) || name == "limit" ||
                        name == "namespace" || std::ranges::find(others, name) != others.end();
        if (!is_known) {
            return fail(Errc::InvalidInput, "there is no parameter {}", name);
        }
    }
    return query;
}

Value view_of_run(const engine::ListedRun& listed) {
    const auto& summary = listed.summary;
    return Value::object({{"run", listed.run.id},
                          {"definition", summary.definition},
                          {"status", to_string(summary.status)},
                          {"started", summary.started},
                          {"ended", summary.ended ? Value{*summary.ended} : Value{}},
                          {"labels", summary.labels},
                          {"parent", summary.parent.empty() ? Value{} : Value{summary.parent}}});
}

std::string make_run_id() {
    auto bytes = std::array<unsigned char, 10>{};
    randombytes_buf(bytes.data(), bytes.size());
    return fmt::format("{:02x}", fmt::join(bytes, ""));
}

} // namespace sluice::server
