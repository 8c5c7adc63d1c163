#include "store/objects/memory_objects.h"

#include <gtest/gtest.h>

#include "store/objects/testing/objects_contract.h"

namespace sluice::store {
namespace {

TEST(MemoryObjects, KeepsWhatItsOwnersPut) {
    auto objects = MemoryObjects{};

    testing::expect_objects(objects);
}

} // namespace
} // namespace sluice::store
