#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "connector/poll/desk.h"

namespace sluice::cluster {

/// What a process asks another for, and the tasks it gets, as bytes. Decoding fails with Corrupt
/// or, for what another release wrote, Unsupported.
std::string encode_question(const connector::poll::Question& question);
Result<connector::poll::Question> decode_question(std::string_view bytes);
std::string encode_tasks(const std::vector<connector::poll::Task>& tasks);
Result<std::vector<connector::poll::Task>> decode_tasks(std::string_view bytes);

} // namespace sluice::cluster
