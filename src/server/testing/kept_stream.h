#pragma once

#include <string>
#include <utility>

#include "http/server.h"

namespace sluice::server::testing {

/// Keeps what it is offered, as long as there is room.
class KeptStream final : public http::Stream {
public:
    explicit KeptStream(std::size_t room = ~std::size_t{0}) : room_(room) {}

    bool offer(std::string bytes) override {
        if (text.size() + bytes.size() > room_) {
            return false;
        }
        text += bytes;
        return true;
    }
    void close() override {}

    /// What came since the last time.
    std::string take() { return std::exchange(text, {}); }

    std::string text;

private:
    std::size_t room_;
};

} // namespace sluice::server::testing
