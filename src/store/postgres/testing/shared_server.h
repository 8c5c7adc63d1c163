#pragma once

#include <string>

#include <gtest/gtest.h>

#include "store/postgres/testing/postgres_server.h"

namespace sluice::store::postgres::testing {

/// The one server of a test program, started when first asked for; null when it cannot be.
inline PostgresServer* shared_server() {
    static auto server = PostgresServer::missing().empty()
                             ? PostgresServer::create()
                             : Result<std::unique_ptr<PostgresServer>>{};
    if (!server) {
        ADD_FAILURE() << server.error().message;
        return nullptr;
    }
    return server->get();
}

/// A schema that no other test has.
inline std::string new_schema() {
    static auto number = 0;
    return "s" + std::to_string(++number);
}

} // namespace sluice::store::postgres::testing

/// Behind it, the test has a server.
#define NEEDS_POSTGRES()                                                             \
    if (auto reason = ::sluice::store::postgres::testing::PostgresServer::missing(); \
        !reason.empty()) {                                                           \
        GTEST_SKIP() << reason;                                                      \
    }                                                                                \
    ASSERT_NE(::sluice::store::postgres::testing::shared_server(), nullptr)
