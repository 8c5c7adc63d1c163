#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/jsonata/internal/item.h"

namespace sluice::expr::jsonata::internal {

/// What a function takes: `<s-nn?:s>`.
class Signature {
public:
    /// Raises S0401 and S0402.
    static Signature parse(std::string_view text);

    /// Whether the arguments can be taken as they are, one for each parameter.
    bool fits(std::span<const Item> arguments, Arena& arena) const;

    /// The arguments as the function wants them: single values in arrays where those are asked
    /// for, the context in the place of what is left out. Raises T0410, T0411 and T0412.
    void validate(std::vector<Item>& arguments, const Item& context, std::string_view function,
                  Arena& arena) const;

private:
    struct Parameter {
        std::string types; ///< The letters that fit.
        std::uint32_t type_bits = 0;
        char type = 'x';
        char subtype = 0; ///< Of what an array holds.
        bool is_optional = false;
        bool is_repeated = false;
        bool is_context = false;
    };

    bool match(std::string_view given, std::size_t parameter, std::vector<std::size_t>& taken,
               std::size_t& furthest, std::size_t at) const;
    Item adapt(const Parameter& parameter, Item argument, std::size_t index,
               std::string_view function, Arena& arena) const;
    Item from_context(const Parameter& parameter, const Item& context, std::size_t index,
                      std::string_view function, Arena& arena) const;
    static Parameter parameter_of(std::string_view text, std::size_t& at);

    std::vector<Parameter> parameters_;
};

} // namespace sluice::expr::jsonata::internal
