#include "store/redis/internal/connection.h"

#include <charconv>

namespace sluice::store::redis::internal {
namespace {

constexpr auto major_version_least = 7;

Result<void> check_info(std::string_view info, ServerKind expected) {
    auto version = info_field(info, "redis_version");
    auto major = 0;
    std::from_chars(version.data(), version.data() + version.size(), major);
    if (major < major_version_least) {
        return fail(Errc::Unsupported, "the server is Redis {}, the store needs {} or newer",
                    version, major_version_least);
    }
    auto is_in_cluster = info_field(info, "cluster_enabled") == "1";
    if (is_in_cluster != (expected == ServerKind::InCluster)) {
        return fail(Errc::Unavailable,
                    "the server is {} part of a Redis Cluster: start this process anew",
                    is_in_cluster ? "now" : "no longer");
    }
    if (info_field(info, "role") == "slave") {
        return fail(Errc::Unavailable, "the server is a replica: name its master");
    }
    return {};
}

ServerSettings settings_in(const resp::Reply& reply) {
    auto settings = ServerSettings{};
    resp::for_each_pair(reply, [&](const resp::Reply& each, const resp::Reply& found) {
        auto name = each.text();
        auto value = std::string{found.text()};
        if (name == "appendonly") {
            settings.appendonly = std::move(value);
        } else if (name == "appendfsync") {
            settings.appendfsync = std::move(value);
        } else if (name == "no-appendfsync-on-rewrite") {
            settings.no_appendfsync_on_rewrite = std::move(value);
        } else if (name == "maxmemory-policy") {
            settings.maxmemory_policy = std::move(value);
        }
    });
    return settings;
}

Result<void> check_settings(const resp::Reply& reply, Durability durability) {
    if (reply.is_error()) {
        auto error = resp::error_of(reply);
        if (error.code == Errc::Unavailable) {
            return std::unexpected(std::move(error));
        }
        return fail(Errc::InvalidInput,
                    "the server does not tell how it keeps data ({}): allow CONFIG GET, or give "
                    "settings=trusted to answer for it yourself",
                    error.message);
    }
    return check(settings_in(reply), durability);
}

Result<void> needs(std::string_view name, std::string_view found, std::string_view wanted,
                   std::string_view why) {
    if (found == wanted) {
        return {};
    }
    return fail(Errc::InvalidInput,
                "the server has {} {}, and {}: set {} {} there (CONFIG SET, and redis.conf)", name,
                found, why, name, wanted);
}

} // namespace

std::string_view info_field(std::string_view info, std::string_view name) {
    while (!info.empty()) {
        auto line = info.substr(0, info.find('\n'));
        info.remove_prefix(std::min(line.size() + 1, info.size()));
        if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':') {
            auto value = line.substr(name.size() + 1);
            return value.ends_with('\r') ? value.substr(0, value.size() - 1) : value;
        }
    }
    return {};
}

Result<void> check(const ServerSettings& settings, Durability durability) {
    if (settings.maxmemory_policy.starts_with("allkeys")) {
        TRY(needs("maxmemory-policy", settings.maxmemory_policy, "noeviction",
                  "would throw state away when its memory is full"));
    }
    if (durability == Durability::Memory) {
        return {};
    }
    auto strict = durability == Durability::Strict;
    TRY(needs("appendonly", settings.appendonly, "yes",
              strict
                  ? "strict durability needs the append-only file"
                  : "relaxed durability needs the append-only file (durability=memory does not)"));
    if (!strict) {
        if (settings.appendfsync == "no") {
            return needs("appendfsync", "no", "everysec", "relaxed durability needs some syncing");
        }
        return {};
    }
    TRY(needs("appendfsync", settings.appendfsync, "always",
              "strict durability needs every write synced (or use durability=relaxed)"));
    return needs("no-appendfsync-on-rewrite", settings.no_appendfsync_on_rewrite, "no",
                 "strict durability needs syncing during a rewrite too");
}

Result<Connection> Connection::open(const Options& options, ServerKind expected) {
    auto connection = Connection{TRY(resp::Client::connect(options.server))};
    auto& client = connection.client_;
    client.commands().add("INFO", "server", "replication", "cluster");
    client.commands().add("CONFIG", "GET", "appendonly", "appendfsync", "no-appendfsync-on-rewrite",
                          "maxmemory-policy");
    for (auto at = std::size_t{0}; at < script_count; ++at) {
        client.commands().add("SCRIPT", "LOAD", text_of(static_cast<Script>(at)));
    }
    TRY(client.send());
    auto info = TRY(resp::checked(TRY(client.receive())));
    TRY(check_info(info.text(), expected));
    auto settings = TRY(client.receive());
    if (options.settings == Settings::Checked) {
        TRY(check_settings(settings, options.durability));
    }
    for (auto& sha : connection.shas_) {
        auto loaded = TRY(resp::checked(TRY(client.receive())));
        sha = loaded.text();
    }
    return connection;
}

} // namespace sluice::store::redis::internal
