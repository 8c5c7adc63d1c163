#include "connector/nats/internal/wire/server_info.h"

#include "value/json.h"

namespace sluice::connector::nats::internal::wire {

namespace {

bool is_true(const Value& info, std::string_view name) {
    const auto* found = info.find(name);
    return found != nullptr && found->is_bool() && found->as_bool();
}

} // namespace

Result<ServerInfo> read_server_info(std::string_view json) {
    auto info = value::parse_json(json);
    if (!info) {
        return fail(Errc::Corrupt, "INFO is no JSON: {}", info.error().message);
    }
    if (!info->is_map()) {
        return fail(Errc::Corrupt, "INFO: expected a JSON object");
    }
    return ServerInfo{.is_tls_required = is_true(*info, "tls_required"),
                      .is_tls_offered = is_true(*info, "tls_available"),
                      .has_headers = is_true(*info, "headers")};
}

} // namespace sluice::connector::nats::internal::wire
