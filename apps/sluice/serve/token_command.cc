#include "sluice/serve/token_command.h"

#include "base/clock.h"
#include "server/tokens.h"
#include "sluice/output.h"
#include "store/embedded/open.h"
#include "value/time_text.h"

namespace sluice::app {

namespace {

Result<server::TokenInfo> info_of(const cli::TokenRequest& options, Time now) {
    auto info = server::TokenInfo{.name = options.name,
                                  .role = server::role_named(options.role).value(),
                                  .space = options.space,
                                  .created = now};
    if (!options.expires.empty()) {
        auto after = value::parse_duration(options.expires);
        info.expires = after ? now + *after : TRY(value::parse_time(options.expires));
    }
    return info;
}

Result<std::string> create_in(const std::string& data, const server::TokenInfo& info,
                              const Clock& clock) {
    auto store = TRY(store::embedded::open_store(data, {}));
    auto documents = TRY(server::Documents::open(*store, {std::string{server::Tokens::kind}}));
    auto table = server::TokenTable{clock};
    auto tokens = server::Tokens{*documents, table, server::WithoutTokens::Everybody};
    TRY(tokens.load());
    return tokens.create(info);
}

void show_token(const cli::TokenRequest& options, const std::string& secret) {
    auto hash = server::TokenTable::hash_of(secret);
    if (options.is_json) {
        print_json(Value::object({{"name", options.name}, {"token", secret}, {"hash", hash}}));
        return;
    }
    print_line(secret);
    if (options.data.empty()) {
        say("put it into the configuration of a server, under tokens:");
        say("  - {{name: {}, role: {}{}{}, hash: {}}}", options.name, options.role,
            options.space.empty() ? "" : ", namespace: ", options.space, hash);
    }
    say("nobody can find out the token again: keep it");
}

} // namespace

ExitCode create_token(const cli::TokenRequest& options) {
    auto clock = SystemClock{};
    auto info = info_of(options, clock.wall());
    if (!info) {
        return report(info.error());
    }
    auto secret = options.data.empty() ? Result<std::string>{server::TokenTable::make_secret()}
                                       : create_in(options.data, *info, clock);
    if (!secret) {
        return report(secret.error());
    }
    show_token(options, *secret);
    return ExitCode::Ok;
}

} // namespace sluice::app
