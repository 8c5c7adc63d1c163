// Whatever bytes come from another process are read or refused, and what was read is written again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "cluster/carried_input.h"
#include "cluster/carried_task.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::cluster;
    auto bytes = std::string_view{reinterpret_cast<const char*>(data), size};
    if (auto input = decode_input(bytes, nullptr)) {
        auto again = decode_input(encode_input(*input), nullptr);
        INVARIANT(again.has_value(), "what was read can be sent on");
    }
    if (auto answer = decode_answer(bytes)) {
        INVARIANT(decode_answer(encode_answer(answer)).has_value(), "an answer can be sent on");
    }
    if (auto question = decode_question(bytes)) {
        INVARIANT(decode_question(encode_question(*question)).has_value(), "so can a question");
    }
    if (auto tasks = decode_tasks(bytes)) {
        auto again = decode_tasks(encode_tasks(*tasks));
        INVARIANT(again && again->size() == tasks->size(), "and tasks");
    }
    return 0;
}
