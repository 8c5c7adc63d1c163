#include <charconv>

#include <fmt/format.h>

#include "server/audit.h"
#include "server/services.h"
#include "value/time_text.h"

namespace sluice::server {

namespace {

constexpr auto audit_limit_max = std::uint64_t{1'000};

Value view_of(const AuditRecord& record) {
    auto view = Value::object({{"time", value::format_time(record.time)},
                               {"who", record.who},
                               {"method", record.method},
                               {"route", record.route},
                               {"namespace", record.space.empty() ? Value{} : Value{record.space}},
                               {"target", record.target},
                               {"status", static_cast<std::int64_t>(record.status)},
                               {"peer", record.peer}});
    return record.more == 0 ? view : view.with("more", static_cast<std::int64_t>(record.more));
}

Value view_of(const AuditPage& page) {
    auto records = std::vector<Value>{};
    for (const auto& record : page.records) {
        records.push_back(view_of(record));
    }
    return Value::object(
        {{"records", Value::list(std::move(records))},
         {"cursor", page.cursor == 0 ? Value{} : Value{fmt::format("{}", page.cursor)}}});
}

Result<std::uint64_t> read_number(const std::string& name, const std::string& text,
                                  std::uint64_t most) {
    auto number = std::uint64_t{0};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || number == 0 ||
        number > most) {
        return fail(Errc::InvalidInput, "{}={}: expected a number from 1 to {}", name, text, most);
    }
    return number;
}

Result<Time> read_since(const std::string& text, Time now) {
    if (auto age = value::parse_duration(text)) {
        return now - *age;
    }
    auto time = value::parse_time(text);
    if (!time) {
        return fail(Errc::InvalidInput,
                    "since={}: expected a time such as 2026-11-15T06:00:00Z, or a duration before "
                    "now such as 1h",
                    text);
    }
    return *time;
}

Result<AuditFilter> read_audit_filter(const Incoming& incoming, Time now) {
    auto filter = AuditFilter{};
    if (!incoming.caller.space.empty()) {
        filter.space = incoming.caller.space;
    }
    for (const auto& [name, text] : incoming.target.query) {
        if (name == "since") {
            filter.since = TRY(read_since(text, now));
        } else if (name == "who") {
            filter.who = text;
        } else if (name == "namespace") {
            filter.space = text;
        } else if (name == "cursor") {
            filter.before = TRY(read_number(name, text, UINT64_MAX));
        } else if (name == "limit") {
            filter.limit = TRY(read_number(name, text, audit_limit_max));
        } else {
            return fail(Errc::InvalidInput, "{}: expected since, who, namespace, limit or cursor",
                        name);
        }
    }
    return filter;
}

} // namespace

void add_audit_routes(RouteTable& routes, const Services& services, Audit& audit) {
    routes.add({http::Method::Get,
                "/v1/audit",
                {Role::Admin, true},
                [&services, &audit](const Incoming& incoming, const Reply& reply) {
                    auto filter = read_audit_filter(incoming, services.clock.wall());
                    if (!filter) {
                        answer(reply, problem_of(filter.error()));
                        return;
                    }
                    audit.list(*std::move(filter), [reply](const Result<AuditPage>& page) {
                        answer(reply, page ? Result<Value>{view_of(*page)}
                                           : Result<Value>{std::unexpected(page.error())});
                    });
                }});
}

} // namespace sluice::server
