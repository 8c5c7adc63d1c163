#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "expr/jsonata/internal/item.h"
#include "expr/jsonata/internal/signature.h"

namespace sluice::expr::jsonata::internal {

class Evaluator;

/// What a built-in function is called with.
struct Call {
    Evaluator& evaluator;
    Arena& arena;
    std::span<const Item> arguments;
    const Item& context;
    Frame* frame;

    Item operator[](std::size_t index) const {
        return index < arguments.size() ? arguments[index] : Item{};
    }
};

struct Builtin {
    std::string_view name;
    std::string_view signature;
    std::uint32_t arity; ///< How many arguments a higher-order function passes.
    Item (*run)(const Call& call);
};

/// Null when there is none of that name.
const Function* find_builtin(std::string_view name);
const Signature& signature_of(const Builtin& builtin);

std::span<const Builtin> text_builtins();
std::span<const Builtin> matching_builtins();
std::span<const Builtin> encoding_builtins();
std::span<const Builtin> number_builtins();
std::span<const Builtin> array_builtins();
std::span<const Builtin> object_builtins();
std::span<const Builtin> time_builtins();
std::span<const Builtin> other_builtins();

} // namespace sluice::expr::jsonata::internal
