#include "store/embedded/testing/sample_store.h"

#include <fstream>
#include <sstream>

#include "base/invariant.h"
#include "store/embedded/embedded_store.h"

namespace sluice::store::embedded::testing {
namespace {

void commit(Store& store, Content& content, const std::string& key, const std::string& value) {
    auto batch = store.make_batch();
    batch->put(key, value);
    batch->put("last", key);
    INVARIANT(store.commit(*batch).has_value(), "the sample fits");
    content[key] = value;
    content["last"] = key;
}

} // namespace

std::vector<Content> write_sample_store(const std::filesystem::path& path) {
    auto content = Content{};
    {
        auto store = EmbeddedStore::open(path, {.shard_count = 4, .reserve_bytes = 0}).value();
        commit(*store, content, "in a table", "small");
        commit(*store, content, "in a blob", std::string(6'000, 'b'));
    }
    // Opening again turns the log into a table and begins a new one.
    auto store = EmbeddedStore::open(path, {.reserve_bytes = 0}).value();
    auto states = std::vector{content};
    auto number = 0;
    for (auto bytes : {10, 300, 40'000, 7, 100'000, 20}) {
        auto key = "logged" + std::to_string(++number);
        commit(*store, content, key, std::string(static_cast<std::size_t>(bytes), 'v'));
        states.push_back(content);
    }
    return states;
}

Reading read_store(const std::filesystem::path& path) {
    auto reading = Reading{};
    auto store = EmbeddedStore::open(path, {.reserve_bytes = 0});
    if (!store) {
        reading.error = store.error().message;
        return reading;
    }
    auto done = (*store)->export_to([&](auto key, auto value) -> Result<void> {
        reading.content.emplace(key, value);
        return {};
    });
    reading.error = done ? "" : done.error().message;
    return reading;
}

std::string read_bytes(const std::filesystem::path& path) {
    auto file = std::ifstream{path, std::ios::binary};
    auto bytes = std::ostringstream{};
    bytes << file.rdbuf();
    return std::move(bytes).str();
}

void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
    auto file = std::ofstream{path, std::ios::binary | std::ios::trunc};
    file << bytes;
}

std::filesystem::path newest_file(const std::filesystem::path& directory,
                                  const std::string& extension) {
    auto newest = std::filesystem::path{};
    for (const auto& entry : std::filesystem::directory_iterator{directory}) {
        if (entry.path().extension() == extension && entry.path() > newest) {
            newest = entry.path();
        }
    }
    return newest;
}

} // namespace sluice::store::embedded::testing
