#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/invariant.h"

namespace sluice {

namespace {

/// Writes what was read again: whatever a Decoder takes has one form.
class Echo {
public:
    explicit Echo(std::string_view bytes) : in_(bytes) {}

    /// The kind of read is chosen by the input; false when it was refused.
    bool step(std::uint8_t choice) {
        auto before = in_.rest();
        again_.clear();
        auto is_read = read(choice);
        auto used = before.substr(0, before.size() - in_.rest().size());
        INVARIANT(is_read || used.empty(), "a refused read takes nothing");
        INVARIANT(!is_read || again_ == used, "what was read is written the same");
        return is_read;
    }

    bool is_at_end() const { return in_.is_at_end(); }

private:
    bool read(std::uint8_t choice) {
        switch (choice % 8) {
            case 0: return echo(in_.u8(), &Encoder::u8);
            case 1: return echo(in_.u16(), &Encoder::u16);
            case 2: return echo(in_.u32(), &Encoder::u32);
            case 3: return echo(in_.u64(), &Encoder::u64);
            case 4: return echo(in_.i64(), &Encoder::i64);
            case 5: return echo(in_.varint(), &Encoder::varint);
            case 6: return echo(in_.svarint(), &Encoder::svarint);
            default: return echo(in_.text(), &Encoder::text);
        }
    }

    template <typename Read, typename Write>
    bool echo(const Result<Read>& read, Write write) {
        if (read) {
            auto out = Encoder{again_};
            (out.*write)(*read);
        }
        return read.has_value();
    }

    Decoder in_;
    std::string again_;
};

} // namespace

} // namespace sluice

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The first half chooses the reads, the second is read.
    auto half = size / 2;
    auto echo =
        sluice::Echo{std::string_view{reinterpret_cast<const char*>(data) + half, size - half}};
    for (auto at = std::size_t{0}; at < half && echo.step(data[at]); ++at) {
    }
    return 0;
}
