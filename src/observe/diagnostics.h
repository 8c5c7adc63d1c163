#pragma once

#include <atomic>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

namespace sluice::observe {

/// `Error` needs a person, `Warn` may, `Info` tells of starts, stops and changes of state, `Debug`
/// of single events.
enum class Level : std::uint8_t { Error, Warn, Info, Debug };

std::string_view to_string(Level level);
std::optional<Level> level_named(std::string_view name);

/// A name with anything that fmt can write.
struct Field {
    template <typename T>
    Field(std::string_view field_name, const T& field_value)
        : name(field_name), value(fmt::format("{}", field_value)) {
        if constexpr (std::floating_point<T>) {
            is_literal = std::isfinite(field_value);
        } else {
            is_literal = std::integral<T> && !std::same_as<T, char>;
        }
    }

    std::string_view name;
    std::string value;
    bool is_literal = false; ///< A number or truth value: stands in JSON without quotes.
};

/// What an operator should know, as it happens: a fixed lower-case message and named fields.
///
/// `diag.warn("sink refused the event", {{"sink", name}, {"attempt", attempt}})`. May be called
/// from any thread.
class Diagnostics {
public:
    using Fields = std::initializer_list<Field>;

    virtual ~Diagnostics() = default;

    void error(std::string_view message, Fields fields = {}) {
        tell(Level::Error, message, fields);
    }
    void warn(std::string_view message, Fields fields = {}) { tell(Level::Warn, message, fields); }
    void info(std::string_view message, Fields fields = {}) { tell(Level::Info, message, fields); }
    void debug(std::string_view message, Fields fields = {}) {
        tell(Level::Debug, message, fields);
    }

    /// Ask before making fields on a busy path.
    bool is_heard(Level level) const { return level <= least_.load(std::memory_order_relaxed); }
    void set_least(Level least) { least_.store(least, std::memory_order_relaxed); }

protected:
    /// What is less urgent than `least` is dropped.
    explicit Diagnostics(Level least) : least_(least) {}

private:
    void tell(Level level, std::string_view message, Fields fields);
    virtual void write(Level level, std::string_view message, std::span<const Field> fields) = 0;

    std::atomic<Level> least_;
};

/// Says nothing.
class NullDiagnostics final : public Diagnostics {
public:
    NullDiagnostics() : Diagnostics(Level::Error) {}

private:
    void write(Level, std::string_view, std::span<const Field>) override {}
};

} // namespace sluice::observe
