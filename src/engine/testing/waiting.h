#pragma once

#include <future>
#include <memory>
#include <utility>

#include "engine/engine.h"

namespace sluice::engine::testing {

/// Turns a call with a callback into one that waits for it.
template <typename T, typename Begin>
Result<T> wait_for(Begin begin) {
    auto promise = std::make_shared<std::promise<Result<T>>>();
    auto answer = promise->get_future();
    begin([promise](Result<T> result) { promise->set_value(std::move(result)); });
    return answer.get();
}

} // namespace sluice::engine::testing
