#include "store/embedded/open.h"

#include <utility>

#include "store/embedded/embedded_store.h"
#include "store/memory/memory_store.h"

namespace sluice::store::embedded {

Result<std::unique_ptr<Store>> open_store(const std::filesystem::path& path, Options options) {
    if (options.durability == Durability::Memory) {
        return std::make_unique<memory::MemoryStore>(options.shard_count);
    }
    return TRY(EmbeddedStore::open(path, std::move(options)));
}

} // namespace sluice::store::embedded
