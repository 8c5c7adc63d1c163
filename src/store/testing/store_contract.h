#pragma once

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "store/store.h"

namespace sluice::store::testing {

/// A kind of store that the contract is tried on: `make` gives an empty one of four shards.
struct StoreKind {
    std::string name;
    std::function<std::unique_ptr<Store>()> make;
};

/// What every store must do, whatever it is made of. A store's own test instantiates it:
/// `INSTANTIATE_TEST_SUITE_P(Memory, StoreContract, ::testing::Values(StoreKind{…}),
/// name_of_kind);`
class StoreContract : public ::testing::TestWithParam<StoreKind> {
public:
    StoreContract();

    void put(std::string_view key, std::string_view value);
    std::string get(std::string_view key) const;
    /// `a=1 b=2`, of a cursor from where it stands to its end.
    static std::string listing(Cursor& cursor);
    std::string listing(std::string_view from = {}, std::string_view to = {}) const;

    std::unique_ptr<Store> store;
};

std::string name_of_kind(const ::testing::TestParamInfo<StoreKind>& info);

} // namespace sluice::store::testing
