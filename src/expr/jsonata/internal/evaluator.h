#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "expr/jsonata/expression.h"
#include "expr/jsonata/internal/arena.h"
#include "expr/jsonata/internal/item.h"
#include "expr/jsonata/internal/tree.h"
#include "expr/meter.h"

namespace sluice::expr::jsonata::internal {

/// One evaluation of a tree: its memory, its budget, and JSONata's rules. Items that it gives live
/// as long as it. Raises T…, D… and U1001.
class Evaluator {
public:
    Evaluator(const Tree& tree, const Bindings& bindings, const Budget& budget,
              const std::optional<Circumstances>& circumstances);

    Item run(const std::optional<Value>& input);
    Item evaluate(const Node& node, const Item& input, Frame* frame);
    /// Calls what is called last as well, so that tail calls need no stack.
    Item call(const Function& function, std::span<const Item> arguments, const Item& context,
              Frame* frame);
    /// As higher-order functions call: with as many arguments as it takes.
    Item call_with(const Function& function, std::initializer_list<Item> arguments, Frame* frame);
    Item evaluate_text(std::string_view text, const Item& input, Frame* frame);

    /// What a tuple remembers, as variables.
    Frame* frame_of(const Tuple& tuple, Frame* parent);

    Arena& arena() { return arena_; }
    Meter& meter() { return meter_; }
    const Options& options() const { return tree_.options; }
    void spend(std::uint64_t steps) {
        if (!meter_.spend(steps)) {
            raise_spent();
        }
    }
    /// Also held to the budget's bound for a single text.
    Item make_text(std::string_view text);
    /// One for the whole evaluation.
    Time now();
    Random& chance();

    Item regex_match(const Function& regex, const Item& text, std::size_t from);
    /// The first match of a regular expression at or behind a byte.
    std::optional<Regex::Match> search(const Function& regex, std::string_view text,
                                       std::size_t from);

private:
    [[noreturn]] static void raise_spent();

    struct External {
        const std::vector<std::string>* path = nullptr;
        bool is_asked = false;
        const Value* value = nullptr;
    };

    Item evaluate_kind(const Node& node, const Item& input, Frame* frame);
    Item add_frills(const Node& node, Item result, Frame* frame);
    Item evaluate_variable(const Node& node, const Item& input, Frame* frame);
    void add_externals(const Tree& tree);
    Item evaluate_external(std::uint32_t external);
    const Value& hold(Value value);
    Item evaluate_array(const Node& node, const Item& input, Frame* frame);
    Item evaluate_block(const Node& node, const Item& input, Frame* frame);
    Item evaluate_condition(const Node& node, const Item& input, Frame* frame);
    Item evaluate_bind(const Node& node, const Item& input, Frame* frame);
    Item evaluate_negate(const Node& node, const Item& input, Frame* frame);
    Item evaluate_binary(const Node& node, const Item& input, Frame* frame);
    Item evaluate_wildcard(const Item& input);
    Item evaluate_descendants(const Item& input);
    void add_descendants(const Item& item, Array& out, std::size_t depth);
    Item make_function(FunctionKind kind, const Node& node, const Item& input, Frame* frame);

    // Paths.
    Item evaluate_path(const Node& path, const Item& input, Frame* frame);
    Item evaluate_step(const Node& step, const Items& inputs, Frame* frame, bool is_last);
    Item evaluate_one(const Node& step, const Item& input, Frame* frame);
    Item finish_path(const Node& path, Item result, Frame* frame);
    Item filter(const Node& predicate, const Item& input, Frame* frame);
    std::size_t count_selections(const Item& verdict, std::size_t index, std::size_t size);
    Item lookup(const Item& input, const Node& name);
    Item group(const Node& node, const Item& input, Frame* frame);
    Item sort(const Node& node, const Items& inputs, Frame* frame, bool is_tuples);

    // Paths that remember their way.
    Item evaluate_tuple_path(const Node& path, std::size_t from, const Items& inputs, Frame* frame);
    Array* evaluate_tuple_step(const Node& step, const Array& tuples, Frame* frame);
    Array* sort_tuples(const Node& step, const Items& inputs, const Array* tuples, Frame* frame);
    Array* apply_stages(const Node& step, Array* tuples, Frame* frame);
    void extend(const Node& step, const Tuple& tuple, const Item& results, Array& out);

    // Calls.
    Item evaluate_call(const Node& node, const Item& input, Frame* frame, const Item* first);
    Item evaluate_partial(const Node& node, const Item& input, Frame* frame);
    Item evaluate_apply(const Node& node, const Item& input, Frame* frame);
    const Function& callee_of(const Node& node, const Item& input, Frame* frame,
                              std::string_view code_of_name, std::string_view code);
    std::string_view name_of(const Node& callee) const;
    Item call_once(const Function& function, std::span<const Item> arguments, const Item& context,
                   Frame* frame);
    Item call_lambda(const Function& function, std::span<const Item> arguments,
                     const Item& context);
    Item call_host(const Function& function, std::span<const Item> arguments, const Item& context);
    Item call_partial(const Function& function, std::span<const Item> arguments,
                      const Item& context, Frame* frame);
    Item call_chain(const Function& function, std::span<const Item> arguments, Frame* frame);
    Item transform(const Function& function, const Item& input);
    void change(const Node& node, const Item& match, Frame* frame);
    std::span<const Item> validate(const Signature& signature, std::span<const Item> arguments,
                                   const Item& context, std::string_view name);

    const Tree& tree_;
    const Bindings& bindings_;
    Meter meter_;
    Arena arena_;
    Item root_;
    std::size_t depth_ = 0;
    std::size_t depth_max_;
    std::vector<External> externals_;
    std::vector<std::unique_ptr<const Value>>
        held_;                                     ///< What bindings and the host's functions gave.
    std::vector<std::unique_ptr<Tree>> evaluated_; ///< By `$eval`.
    std::optional<Time> now_;
    std::optional<Random> chance_;
};

/// How many arguments a function is passed by those that take it.
std::size_t arity_of(const Function& function);

} // namespace sluice::expr::jsonata::internal
