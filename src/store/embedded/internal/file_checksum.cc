#include "store/embedded/internal/file_checksum.h"

#include <string>

#include "base/bytes.h"
#include "store/embedded/internal/crc32c.h"

namespace sluice::store::embedded {
namespace {

constexpr auto checksum_name = "sluice.crc32c";

class Generator final : public rocksdb::FileChecksumGenerator {
public:
    void Update(const char* data, std::size_t size) override { crc_ = crc32c({data, size}, crc_); }
    void Finalize() override { Encoder{checksum_}.u32(crc_); }
    std::string GetChecksum() const override { return checksum_; }
    const char* Name() const override { return checksum_name; }

private:
    std::uint32_t crc_ = 0;
    std::string checksum_;
};

class Factory final : public rocksdb::FileChecksumGenFactory {
public:
    std::unique_ptr<rocksdb::FileChecksumGenerator> CreateFileChecksumGenerator(
        const rocksdb::FileChecksumGenContext& /*context*/) override {
        return std::make_unique<Generator>();
    }
    const char* Name() const override { return checksum_name; }
};

} // namespace

std::shared_ptr<rocksdb::FileChecksumGenFactory> file_checksums() {
    return std::make_shared<Factory>();
}

} // namespace sluice::store::embedded
