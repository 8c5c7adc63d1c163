#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "client/problem.h"
#include "value/value.h"

namespace sluice::client {

/// The items of a list, page after page, each page asked for when it is needed.
///
///     for (const auto& run : listing) { … }
///     if (listing.problem()) { … }
class Listing {
public:
    /// The page behind a cursor, an empty one for the first: `{<member>: […], cursor}`.
    using Fetch = std::function<Answer<Value>(const std::string& cursor)>;

    Listing(Fetch fetch, std::string member)
        : fetch_(std::move(fetch)), member_(std::move(member)) {}

    /// Nothing at the end, or when a page could not be had.
    std::optional<Value> next();
    const std::optional<Problem>& problem() const { return problem_; }

    class Iterator {
    public:
        using value_type = Value;
        using difference_type = std::ptrdiff_t;

        explicit Iterator(Listing& listing) : listing_(&listing), item_(listing.next()) {}
        const Value& operator*() const { return *item_; }
        Iterator& operator++() {
            item_ = listing_->next();
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t /*end*/) const { return !item_; }

    private:
        Listing* listing_;
        std::optional<Value> item_;
    };
    Iterator begin() { return Iterator{*this}; }
    static std::default_sentinel_t end() { return {}; }

private:
    void take_page();

    Fetch fetch_;
    std::string member_;
    std::string cursor_;
    std::deque<Value> items_;
    std::optional<Problem> problem_;
    bool has_more_ = true;
};

} // namespace sluice::client
