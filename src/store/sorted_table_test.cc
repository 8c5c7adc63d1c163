#include "store/sorted_table.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::store {
namespace {

using Model = std::map<std::string, std::string>;

/// Few beginnings, so that keys lie beside each other, and ends that come in any order.
std::string drawn_key() {
    auto beginning = *rc::gen::element<std::string>("", "a", "ab", "abc", "abd/0123456789",
                                                    "abd/0123456789/longer", "b");
    return beginning + *rc::gen::container<std::string>(rc::gen::inRange('a', 'f'));
}

/// The same into both.
void draw_operation(FlatBatch& batch, Model& model) {
    auto key = drawn_key();
    auto kind = *rc::gen::inRange(0, 10);
    if (kind < 7) {
        auto value = std::string(*rc::gen::inRange(0, 40), static_cast<char>('0' + kind));
        batch.put(key, value);
        model[key] = value;
    } else if (kind < 9) {
        batch.remove(key);
        model.erase(key);
    } else {
        auto to = std::max(key, drawn_key());
        batch.remove_range(key, to);
        model.erase(model.lower_bound(key),
                    to.empty() ? model.end() : model.lower_bound(std::max(key, to)));
    }
}

Model read(Cursor& cursor) {
    auto all = Model{};
    for (; cursor.is_valid(); cursor.next()) {
        all.emplace(cursor.key(), cursor.value());
    }
    return all;
}

} // namespace

RC_GTEST_PROP(SortedTable, HoldsWhatAMapWould, ()) {
    auto table = SortedTable{};
    auto model = Model{};
    auto cursors = std::vector<std::pair<std::unique_ptr<Cursor>, Model>>{};
    auto batches = *rc::gen::inRange(1, 10);
    for (auto at = 0; at < batches; ++at) {
        auto batch = FlatBatch{};
        auto operations = *rc::gen::inRange(1, 20);
        for (auto operation = 0; operation < operations; ++operation) {
            draw_operation(batch, model);
        }
        table.apply(batch);

        RC_ASSERT(read(*table.scan({}, {})) == model);
        for (auto tries = 0; tries < 5; ++tries) {
            auto key = drawn_key();
            auto found = model.find(key);
            auto expected =
                found == model.end() ? std::nullopt : std::optional<std::string>{found->second};
            RC_ASSERT(table.get(key) == expected);
            RC_ASSERT(read(*table.scan(key, {})) == Model(model.lower_bound(key), model.end()));
        }
        if (*rc::gen::arbitrary<bool>()) {
            cursors.emplace_back(table.scan({}, {}), model);
        }
        if (cursors.size() > 3) {
            RC_ASSERT(read(*cursors.front().first) == cursors.front().second);
            cursors.erase(cursors.begin());
        }
    }
    for (auto& [cursor, seen] : cursors) {
        RC_ASSERT(read(*cursor) == seen);
    }
}

} // namespace sluice::store
