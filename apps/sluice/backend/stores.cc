#include "sluice/backend/stores.h"

#include <string_view>
#include <utility>

#include "store/embedded/open.h"
#if SLUICE_WITH_REDIS_STORE
#include "store/redis/options.h"
#include "store/redis/redis_store.h"
#endif
#if SLUICE_WITH_POSTGRES
#include "store/postgres/options.h"
#include "store/postgres/postgres_store.h"
#endif

namespace sluice::app {

namespace {

#if SLUICE_WITH_REDIS_STORE
Result<std::unique_ptr<store::Store>> open_redis(const std::string& url,
                                                 store::Durability durability) {
    auto options = TRY(store::redis::parse_options(url));
    options.durability = durability;
    return store::redis::RedisStore::open(std::move(options));
}
#endif

#if SLUICE_WITH_POSTGRES
Result<std::unique_ptr<store::Store>> open_postgres(const std::string& url,
                                                    store::Durability durability,
                                                    observe::Diagnostics& diagnostics) {
    auto options = TRY(store::postgres::Options::parse(url));
    options.durability = durability;
    options.report = [&diagnostics](std::string_view why) {
        diagnostics.warn("the store is tried again", {{"why", why}});
    };
    return store::postgres::PostgresStore::open(std::move(options));
}
#endif

} // namespace

Result<std::unique_ptr<store::Store>> open_store(
    const std::string& url, const std::filesystem::path& data, store::Durability durability,
    [[maybe_unused]] observe::Diagnostics& diagnostics) {
    if (url.empty()) {
        return store::embedded::open_store(data, {.durability = durability});
    }
    if (durability == store::Durability::Memory) {
        return fail(Errc::InvalidInput,
                    "durability memory goes with no store elsewhere: expected strict or relaxed");
    }
#if SLUICE_WITH_REDIS_STORE
    if (url.starts_with("redis://") || url.starts_with("rediss://")) {
        return open_redis(url, durability);
    }
#endif
#if SLUICE_WITH_POSTGRES
    if (url.starts_with("postgres://") || url.starts_with("postgresql://")) {
        return open_postgres(url, durability, diagnostics);
    }
#endif
    return fail(Errc::InvalidInput,
                "store: expected a URL that begins with redis://, rediss:// or postgres://");
}

} // namespace sluice::app
