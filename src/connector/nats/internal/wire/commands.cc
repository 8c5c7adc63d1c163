#include "connector/nats/internal/wire/commands.h"

#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "value/json.h"

namespace sluice::connector::nats::internal::wire {

void CommandWriter::connect(const Login& login, std::string_view name, bool is_tls) {
    auto members = std::vector<value::Member>{
        {"verbose", false}, {"pedantic", false}, {"tls_required", is_tls},
        {"name", name},     {"lang", "sluice"},  {"version", "1"},
        {"protocol", 1},    {"headers", true},   {"no_responders", true}};
    if (!login.user.empty() || !login.password.empty()) {
        members.emplace_back("user", login.user);
        members.emplace_back("pass", login.password);
    }
    if (!login.token.empty()) {
        members.emplace_back("auth_token", login.token);
    }
    out_ += "CONNECT ";
    value::write_json(Value::map(std::move(members)), out_);
    out_ += "\r\n";
}

void CommandWriter::subscribe(std::string_view subject, std::uint64_t subscription) {
    fmt::format_to(std::back_inserter(out_), "SUB {} {}\r\n", subject, subscription);
}

void CommandWriter::unsubscribe(std::uint64_t subscription) {
    fmt::format_to(std::back_inserter(out_), "UNSUB {}\r\n", subscription);
}

void CommandWriter::publish(std::string_view subject, std::string_view reply,
                            std::string_view body) {
    fmt::format_to(std::back_inserter(out_), "PUB {}{}{} {}\r\n", subject, reply.empty() ? "" : " ",
                   reply, body.size());
    out_ += body;
    out_ += "\r\n";
}

} // namespace sluice::connector::nats::internal::wire
