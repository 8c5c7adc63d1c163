#include "client/listing.h"

#include <fmt/format.h>

namespace sluice::client {

std::optional<Value> Listing::next() {
    // A page may be empty and still name a cursor.
    while (items_.empty() && has_more_) {
        take_page();
    }
    if (items_.empty()) {
        return std::nullopt;
    }
    auto item = std::move(items_.front());
    items_.pop_front();
    return item;
}

void Listing::take_page() {
    has_more_ = false;
    auto page = fetch_(cursor_);
    if (!page) {
        problem_ = page.error();
        return;
    }
    const auto* items = page->find(member_);
    if (items == nullptr || !items->is_list()) {
        problem_ = Problem{Error{Errc::Unsupported,
                                 fmt::format("the server's answer has no list \"{}\"", member_)}};
        return;
    }
    items_.assign(items->as_list().begin(), items->as_list().end());
    const auto* cursor = page->find("cursor");
    if (cursor != nullptr && cursor->is_string() && cursor->as_string() != cursor_) {
        cursor_ = cursor->as_string();
        has_more_ = true;
    }
}

} // namespace sluice::client
