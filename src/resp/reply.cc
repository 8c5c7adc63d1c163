#include "resp/reply.h"

#include <array>
#include <string>
#include <utility>

namespace sluice::resp {
namespace {

constexpr auto null_node = Node{.kind = Kind::Null, .end = 1};

constexpr auto codes = std::to_array<std::pair<std::string_view, Errc>>({
    {"LOADING", Errc::Unavailable},     {"BUSY", Errc::Unavailable},
    {"MASTERDOWN", Errc::Unavailable},  {"CLUSTERDOWN", Errc::Unavailable},
    {"TRYAGAIN", Errc::Unavailable},    {"NOREPLICAS", Errc::Unavailable},
    {"UNBLOCKED", Errc::Unavailable},   {"OOM", Errc::NoSpace},
    {"MISCONF", Errc::NoSpace},         {"READONLY", Errc::NoSpace},
    {"NOAUTH", Errc::InvalidInput},     {"WRONGPASS", Errc::InvalidInput},
    {"NOPERM", Errc::Unsupported},      {"MOVED", Errc::Unsupported},
    {"CROSSSLOT", Errc::Unsupported},   {"WRONGTYPE", Errc::Conflict},
    {"BUSYGROUP", Errc::AlreadyExists}, {"NOGROUP", Errc::NotFound},
    {"NOSCRIPT", Errc::NotFound},
});

} // namespace

std::string_view to_string(Kind kind) {
    static constexpr auto names = std::to_array<std::string_view>(
        {"null", "text", "error", "number", "double", "big number", "bool", "list", "map", "push"});
    return names[static_cast<std::size_t>(kind)];
}

Reply Reply::item(std::size_t index) const {
    for (const auto& each : *this) {
        if (index-- == 0) {
            return each;
        }
    }
    return Reply{&null_node, nullptr, 0};
}

std::string_view error_word(std::string_view message) {
    return message.substr(0, message.find(' '));
}

Error error_of(const Reply& reply) {
    auto message = reply.text();
    auto word = error_word(message);
    for (const auto& [known, code] : codes) {
        if (word == known) {
            return {code, std::string{message}};
        }
    }
    auto is_unknown = message.starts_with("ERR unknown command");
    return {is_unknown ? Errc::Unsupported : Errc::Internal, std::string{message}};
}

Result<Reply> checked(Reply reply) {
    if (reply.is_error()) {
        return std::unexpected(error_of(reply));
    }
    return reply;
}

} // namespace sluice::resp
