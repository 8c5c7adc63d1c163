#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "value/value.h"
#include "workflow/asl/internal/read/report.h"

namespace sluice::workflow::asl::internal {

using Names = std::initializer_list<std::string_view>;

struct WholeRange {
    std::int64_t min = 0;
    std::int64_t max = 99'999'999;
};

/// An object of the definition and where it stands. What is wrong with its members is reported as
/// they are read; a member that is wrong reads as if it were missing.
class Object {
public:
    /// `form` must be a map; it and the report must outlive this.
    Object(const Value& form, std::string pointer, Report& report)
        : form_(&form), pointer_(std::move(pointer)), report_(&report) {}

    const Value& form() const { return *form_; }
    const std::string& pointer() const { return pointer_; }
    Report& report() const { return *report_; }

    const Value* find(std::string_view name) const { return form_->find(name); }
    bool has(std::string_view name) const { return find(name) != nullptr; }
    std::string at(std::string_view name) const { return join(pointer_, name); }

    /// Something is wrong with a member, or with the whole of it.
    void refuse(std::string_view name, std::string message,
                std::string_view code = code::schema) const;
    void refuse_all(std::string message, std::string_view code = code::schema) const;

    bool require(Names names) const;
    /// No member has another name.
    void allow_only(std::span<const std::string_view> names) const;
    void allow_only(Names names) const { allow_only(std::span{names.begin(), names.size()}); }
    /// True: at most one of them is there.
    bool allow_one_of(Names names) const;

    std::optional<std::string_view> text(std::string_view name) const;
    std::optional<bool> flag(std::string_view name) const;
    std::optional<std::int64_t> whole(std::string_view name, WholeRange range) const;
    std::optional<std::string_view> word(std::string_view name, Names words) const;
    std::optional<std::span<const Value>> list(std::string_view name) const;
    std::optional<Object> object(std::string_view name) const;
    /// Calls `take(object, is_last)` for each item of a list, all of which must be objects.
    template <typename Take>
    void each_object(std::string_view name, const Take& take) const {
        auto items = list(name).value_or(std::span<const Value>{});
        for (auto index = std::size_t{0}; index < items.size(); ++index) {
            if (auto item = item_of(name, index, items[index])) {
                take(*item, index + 1 == items.size());
            }
        }
    }

private:
    std::optional<Object> item_of(std::string_view name, std::size_t index,
                                  const Value& item) const;

    const Value* form_;
    std::string pointer_;
    Report* report_;
};

/// "a text", "a number": what a value is, for messages.
std::string_view kind_of(const Value& value);
/// "The field 'Seconds' must be a number but is a text."
std::string wrong_kind(std::string_view name, std::string_view expected, const Value& found);
/// A number without fraction, however it is written: 2, 2.0.
std::optional<std::int64_t> whole_of(const Value& value);

} // namespace sluice::workflow::asl::internal
