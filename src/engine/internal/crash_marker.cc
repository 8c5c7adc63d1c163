#include "engine/internal/crash_marker.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sluice::engine {

namespace {

constexpr auto page_bytes = std::size_t{4096};
constexpr auto magic_number = std::uint64_t{0x534C55494345'4D31}; // "SLUICEM1"

} // namespace

Result<std::unique_ptr<CrashMarker>> CrashMarker::open(const std::filesystem::path& path) {
    auto file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0 || ::ftruncate(file, page_bytes) != 0) {
        auto error = errno;
        if (file >= 0) {
            ::close(file);
        }
        return fail(Errc::Io, "cannot open {}: {}", path.string(), std::strerror(error));
    }
    auto* memory = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (memory == MAP_FAILED) {
        return fail(Errc::Io, "cannot map {}: {}", path.string(), std::strerror(errno));
    }
    auto marker = std::unique_ptr<CrashMarker>{new CrashMarker{static_cast<Page*>(memory)}};
    marker->take_stock();
    return marker;
}

CrashMarker::~CrashMarker() {
    ::munmap(page_, page_bytes);
}

void CrashMarker::take_stock() {
    if (page_->magic != magic_number) {
        *page_ = Page{};
        page_->magic = magic_number;
    }
    for (auto& lane : page_->lanes) {
        if (lane.is_deciding == 0) {
            continue;
        }
        auto is_it = [&](const Suspect& each) {
            return each.stops > 0 && each.event == lane.event;
        };
        auto found = std::ranges::find_if(page_->suspects, is_it);
        if (found == page_->suspects.end()) {
            // The one that stopped the process least often makes room.
            found = std::ranges::min_element(page_->suspects, {}, &Suspect::stops);
            *found = {.event = lane.event, .stops = 0, .reserved = 0};
        }
        ++found->stops;
        lane.is_deciding = 0;
    }
    has_stops_ =
        std::ranges::any_of(page_->suspects, [](const Suspect& each) { return each.stops > 0; });
    has_suspects_ = std::ranges::any_of(
        page_->suspects, [](const Suspect& each) { return each.stops >= stops_max; });
}

Fingerprint CrashMarker::print_of(std::string_view run, std::string_view source,
                                  std::string_view id) {
    auto print = fingerprint(run, source);
    print.low ^= hash64(id);
    return print;
}

void CrashMarker::begin(std::size_t lane, const Fingerprint& event) {
    auto& slot = page_->lanes[lane % lanes_max];
    slot.event = event;
    // The compiler must not move the decision before the mark.
    __atomic_store_n(&slot.is_deciding, 1, __ATOMIC_SEQ_CST);
}

void CrashMarker::end(std::size_t lane) {
    if (has_stops_) [[unlikely]] {
        clear(page_->lanes[lane % lanes_max].event);
    }
    __atomic_store_n(&page_->lanes[lane % lanes_max].is_deciding, 0, __ATOMIC_RELEASE);
}

/// Decided to its end after all: it was not the reason.
void CrashMarker::clear(const Fingerprint& event) {
    for (auto& suspect : page_->suspects) {
        if (suspect.event == event && suspect.stops < stops_max) {
            suspect.stops = 0;
        }
    }
}

bool CrashMarker::is_suspect(const Fingerprint& event) const {
    return has_suspects_ && std::ranges::any_of(page_->suspects, [&](const Suspect& each) {
               return each.stops >= stops_max && each.event == event;
           });
}

} // namespace sluice::engine
