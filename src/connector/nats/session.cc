#include "connector/nats/session.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <unistd.h>

#include "connector/nats/internal/steady.h"

namespace sluice::connector::nats {

namespace {

using internal::Out;
using internal::steady_now;

constexpr auto connect_time_max = std::chrono::seconds{2};
constexpr auto backoff_min = Nanos{std::chrono::milliseconds{50}};
constexpr auto backoff_max = Nanos{std::chrono::seconds{5}};
// A server that is silent for two of these is taken for lost.
constexpr auto ping_interval = std::chrono::seconds{10};
constexpr auto* system_authorities = "/etc/ssl/certs/ca-certificates.crt";

std::int64_t millis(Nanos time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

std::int64_t reconnect_delay(natsConnection* /*connection*/, int attempts, void* /*closure*/) {
    auto random = Random{static_cast<std::uint64_t>(steady_now().count())};
    return millis(backoff(static_cast<std::uint64_t>(std::max(attempts, 0)), random));
}

/// Otherwise the library writes to stderr. What happened shows in the state of the connection.
void ignore_error(natsConnection* /*connection*/, natsSubscription* /*subscription*/,
                  natsStatus /*status*/, void* /*closure*/) {}

/// With none the library would wait until it is connected.
void ignore_connected(natsConnection* /*connection*/, void* /*closure*/) {}

natsStatus set_login(natsOptions* made, const Login& login) {
    if (!login.user.empty()) {
        return natsOptions_SetUserInfo(made, login.user.c_str(), login.password.c_str());
    }
    if (!login.token.empty()) {
        return natsOptions_SetToken(made, login.token.c_str());
    }
    if (!login.credentials_file.empty()) {
        return natsOptions_SetUserCredentialsFromFiles(made, login.credentials_file.c_str(),
                                                       nullptr);
    }
    if (!login.nkey.empty()) {
        return natsOptions_SetNKeyFromSeed(made, login.nkey.c_str(), login.nkey_seed_file.c_str());
    }
    return NATS_OK;
}

Result<void> set_tls(natsOptions* made, const Tls& tls) {
    if (!tls.is_on) {
        return {};
    }
    auto status = natsOptions_SetSecure(made, true);
    if (status == NATS_OK && tls.verification == Verification::Off) {
        status = natsOptions_SkipServerVerification(made, true);
    }
    auto authorities = tls.ca_file.empty() ? std::string{system_authorities} : tls.ca_file;
    auto is_there = std::filesystem::exists(authorities);
    if (!is_there && !tls.ca_file.empty()) {
        return fail(Errc::InvalidInput, "ca: there is no file {}", authorities);
    }
    if (status == NATS_OK && is_there &&
        natsOptions_LoadCATrustedCertificates(made, authorities.c_str()) != NATS_OK) {
        return fail(Errc::InvalidInput, "ca: {} has no certificates in PEM", authorities);
    }
    if (status == NATS_OK && !tls.key_file.empty() &&
        natsOptions_LoadCertificatesChain(made, tls.certificate_file.c_str(),
                                          tls.key_file.c_str()) != NATS_OK) {
        return fail(Errc::InvalidInput, "cert, key: {} and {} are no certificate with its key",
                    tls.certificate_file, tls.key_file);
    }
    if (status != NATS_OK) {
        return std::unexpected(error_of(status, "setting up TLS"));
    }
    return {};
}

natsStatus set_servers(natsOptions* made, const Options& options) {
    auto urls = std::vector<std::string>{};
    auto pointers = std::vector<const char*>{};
    for (const auto& server : options.servers) {
        urls.push_back((options.tls.is_on ? "tls://" : "nats://") + server);
    }
    for (const auto& url : urls) {
        pointers.push_back(url.c_str());
    }
    return natsOptions_SetServers(made, pointers.data(), static_cast<int>(pointers.size()));
}

natsStatus set_reconnect(natsOptions* made, Session::Reconnect reconnect, bool is_retrying) {
    if (reconnect == Session::Reconnect::Never) {
        return natsOptions_SetAllowReconnect(made, false);
    }
    auto status = natsOptions_SetMaxReconnect(made, -1);
    if (status == NATS_OK) {
        status = natsOptions_SetCustomReconnectDelay(made, reconnect_delay, nullptr);
    }
    if (status == NATS_OK && is_retrying) {
        status = natsOptions_SetRetryOnFailedConnect(made, true, ignore_connected, nullptr);
    }
    return status;
}

Result<internal::OptionsHandle> library_options(const Options& options, const std::string& name,
                                                Session::Reconnect reconnect, bool is_retrying) {
    auto made = internal::OptionsHandle{};
    auto status = natsOptions_Create(Out{made});
    const auto steps = std::array{
        +[](natsOptions* o) { return natsOptions_SetTimeout(o, millis(connect_time_max)); },
        +[](natsOptions* o) { return natsOptions_SetPingInterval(o, millis(ping_interval)); },
        +[](natsOptions* o) { return natsOptions_SetErrorHandler(o, ignore_error, nullptr); },
        +[](natsOptions* o) { return natsOptions_SetFailRequestsOnDisconnect(o, true); },
    };
    for (auto step : steps) {
        status = status == NATS_OK ? step(made.get()) : status;
    }
    if (status == NATS_OK) {
        status = natsOptions_SetName(made.get(), name.c_str());
    }
    if (status == NATS_OK) {
        status = set_servers(made.get(), options);
    }
    if (status == NATS_OK) {
        status = set_login(made.get(), options.login);
    }
    if (status == NATS_OK) {
        status = set_reconnect(made.get(), reconnect, is_retrying);
    }
    if (status != NATS_OK) {
        return std::unexpected(error_of(status, "setting up the connection"));
    }
    TRY(set_tls(made.get(), options.tls));
    return made;
}

bool is_temporary(natsStatus status) {
    return status == NATS_NO_SERVER || status == NATS_TIMEOUT || status == NATS_IO_ERROR ||
           status == NATS_SYS_ERROR || status == NATS_CONNECTION_CLOSED ||
           status == NATS_CONNECTION_DISCONNECTED || status == NATS_NOT_YET_CONNECTED ||
           status == NATS_STALE_CONNECTION || status == NATS_NO_RESPONDERS ||
           status == NATS_INSUFFICIENT_BUFFER;
}

Errc code_of(natsStatus status, jsErrCode code) {
    switch (static_cast<int>(code)) {
        case JSStreamNotFoundErr:
        case JSConsumerNotFoundErr: return Errc::NotFound;
        case JSStreamNameExistErr:
        case JSStreamSubjectOverlapErr:
        case JSConsumerNameExistErr: return Errc::Conflict;
        case JSClusterNoPeersErr:
        case JSStreamReplicasNotSupportedErr:
        case JSConsumerFilterNotSubsetErr: return Errc::InvalidInput;
        case JSStreamMessageExceedsMaximumErr: return Errc::LimitExceeded;
        case 0: break;
        default:
            // Too little room or no leader: trying again may help.
            return Errc::Unavailable;
    }
    if (is_temporary(status)) {
        return Errc::Unavailable;
    }
    switch (status) {
        case NATS_NOT_FOUND: return Errc::NotFound;
        case NATS_MAX_PAYLOAD: return Errc::LimitExceeded;
        case NATS_INVALID_ARG:
        case NATS_INVALID_SUBJECT:
        case NATS_CONNECTION_AUTH_FAILED:
        case NATS_NOT_PERMITTED:
        case NATS_SSL_ERROR: return Errc::InvalidInput;
        default: return Errc::Io;
    }
}

} // namespace

Nanos backoff(std::uint64_t attempt, Random& random) {
    auto longest = backoff_max;
    if (attempt < 8) {
        longest = std::min(backoff_max, backoff_min * (std::int64_t{1} << attempt));
    }
    return longest / 2 + Nanos{static_cast<std::int64_t>(
                             random.below(static_cast<std::uint64_t>(longest.count() / 2)))};
}

Error error_of(natsStatus status, std::string_view doing, jsErrCode code) {
    const auto* detail = nats_GetLastError(nullptr);
    const auto* text = natsStatus_GetText(status);
    auto message = fmt::format("{}: {}", doing, text);
    if (detail != nullptr && *detail != '\0' && std::string_view{detail} != text) {
        message += fmt::format(" ({})", detail);
    }
    if (code == JSNotEnabledErr) {
        message = fmt::format("{}: JetStream does not answer: start the server with -js", doing);
    }
    return {.code = code_of(status, code), .message = std::move(message)};
}

Session::Session(Options options, std::string name, Reconnect reconnect)
    : options_(std::move(options)),
      name_(std::move(name)),
      reconnect_(reconnect),
      api_(options_.domain.empty() ? "$JS.API." : fmt::format("$JS.{}.API.", options_.domain)),
      random_(static_cast<std::uint64_t>(steady_now().count()) ^
              static_cast<std::uint64_t>(::getpid())) {}

Session::~Session() {
    if (connection_) {
        natsConnection_Close(connection_.get());
    }
}

Result<std::unique_ptr<Session>> Session::open(const Options& options, std::string name,
                                               Reconnect reconnect) {
    auto session = std::unique_ptr<Session>{new Session{options, std::move(name), reconnect}};
    auto done = session->connect(false);
    if (!done && done.error().code == Errc::Unavailable && reconnect == Reconnect::Always) {
        done = session->connect(true);
    }
    TRY(std::move(done));
    return session;
}

Result<void> Session::connect(bool is_retrying) {
    auto options = TRY(library_options(options_, name_, reconnect_, is_retrying));
    streams_.reset();
    connection_.reset();
    auto status = natsConnection_Connect(Out{connection_}, options.get());
    if (status != NATS_OK && !(is_retrying && status == NATS_NOT_YET_CONNECTED)) {
        auto doing = fmt::format("connecting to {}", fmt::join(options_.servers, ", "));
        return std::unexpected(error_of(status, doing));
    }
    auto defaults = call_options(connect_time_max);
    status = natsConnection_JetStream(Out{streams_}, connection_.get(), &defaults);
    if (status == NATS_OK) {
        status = natsStatistics_Create(Out{statistics_});
    }
    if (status != NATS_OK) {
        return std::unexpected(error_of(status, "setting up JetStream"));
    }
    ++generation_;
    return {};
}

bool Session::is_connected() const {
    return natsConnection_Status(connection_.get()) == NATS_CONN_STATUS_CONNECTED;
}

bool Session::is_closed() const {
    return natsConnection_IsClosed(connection_.get());
}

std::uint64_t Session::incarnation() const {
    auto reconnects = std::uint64_t{0};
    if (natsConnection_GetStats(connection_.get(), statistics_.get()) == NATS_OK) {
        natsStatistics_GetCounts(statistics_.get(), nullptr, nullptr, nullptr, nullptr,
                                 &reconnects);
    }
    return (generation_ << 32U) + reconnects;
}

void Session::mend(Nanos now) {
    if (connection_ && !is_closed()) {
        attempts_ = 0;
        return;
    }
    if (now < mended_at_) {
        return;
    }
    mended_at_ = now + backoff(attempts_++, random_);
    // What it fails with shows as the trouble of the connection that is closed.
    std::ignore = connect(true);
}

std::string Session::trouble() const {
    if (is_connected()) {
        return {};
    }
    const auto* text = static_cast<const char*>(nullptr);
    auto status = natsConnection_GetLastError(connection_.get(), &text);
    auto why = text != nullptr && *text != '\0' ? text : natsStatus_GetText(status);
    return fmt::format("no connection to {}: {}", fmt::join(options_.servers, ", "),
                       status == NATS_OK ? "it is being made" : why);
}

jsOptions Session::call_options(Nanos wait) const {
    auto options = jsOptions{};
    jsOptions_Init(&options);
    options.Wait = std::max<std::int64_t>(1, millis(wait));
    options.Domain = options_.domain.empty() ? nullptr : options_.domain.c_str();
    return options;
}

} // namespace sluice::connector::nats
