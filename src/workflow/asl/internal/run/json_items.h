#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/value.h"

namespace sluice::workflow::asl::internal::run {

/// The items of a list or object in a JSON document, of which no more than a part is in memory.
class JsonItems {
public:
    /// What the document has from an offset on; nothing: it ends there.
    using ReadPart = std::function<Result<std::string>(std::uint64_t offset)>;

    explicit JsonItems(ReadPart read) : read_(std::move(read)) {}

    /// Goes to the list or object that `/a/0/b` points to.
    Result<void> seek(std::string_view pointer);
    /// Goes on where another left off.
    void resume(std::uint64_t offset, bool is_object);
    /// An item, or a member as `{Key, Value}`; nothing: no more.
    Result<std::optional<Value>> next();

    bool is_object() const { return is_object_; }
    std::uint64_t offset() const { return base_ + at_; }

private:
    static constexpr auto end = '\0';

    Result<char> peek(); ///< `end` at the end.
    Result<char> peek_sign();
    Result<void> enter();
    /// To the member of that name, or the item of that number.
    Result<void> go_to(const std::string& name);
    enum class Use : std::uint8_t { Keep, Pass };
    /// Its text; of one that is passed by, a part.
    Result<std::string> take_value(Use use = Use::Keep);
    Result<std::string> take_key();
    Result<Value> parse(std::string_view text) const;

    ReadPart read_;
    std::string part_;
    std::uint64_t base_ = 0; ///< Of the part in the document.
    std::size_t at_ = 0;
    bool is_object_ = false;
};

} // namespace sluice::workflow::asl::internal::run
