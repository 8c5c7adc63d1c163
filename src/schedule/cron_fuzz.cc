#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "schedule/zone.h"

// Whatever is taken comes again and again, each time later than the last.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::schedule;
    auto cron = Cron::parse({reinterpret_cast<const char*>(data), size});
    if (!cron) {
        return 0;
    }
    static const auto berlin = Zone::find("Europe/Berlin").value();
    auto local = LocalTime{std::chrono::local_days{std::chrono::year{2026} / 3 / 28}};
    auto system = SystemTime{std::chrono::sys_days{std::chrono::year{2026} / 10 / 24}};
    for (auto count = 0; count < 5; ++count) {
        auto next = cron->next(local);
        INVARIANT(next && *next > local, "there is a next time, and it is later");
        local = *next;
        auto due = berlin.next(*cron, system);
        INVARIANT(due && *due > system, "in a zone too");
        system = *due;
    }
    return 0;
}
