#include <algorithm>
#include <vector>

#include "expr/jsonata/internal/evaluator.h"
#include "expr/jsonata/internal/library/builtin.h"
#include "expr/jsonata/internal/operators.h"
#include "expr/jsonata/internal/raise.h"

namespace sluice::expr::jsonata::internal {

std::size_t arity_of(const Function& function) {
    switch (function.kind) {
        case FunctionKind::Lambda: return function.node->children.size();
        case FunctionKind::Builtin: return function.builtin->arity;
        case FunctionKind::Host: return 3; // Its signature decides.
        case FunctionKind::Partial:
            return static_cast<std::size_t>(
                std::count_if(function.arguments, function.arguments + function.argument_count,
                              [](const Item& item) { return item.type == Type::Hole; }));
        default: return 1;
    }
}

std::string_view Evaluator::name_of(const Node& callee) const {
    return callee.kind == Kind::Path ? callee.children[0]->text : callee.text;
}

/// The function that a call names. A name without its $ is told apart from nothing at all.
const Function& Evaluator::callee_of(const Node& node, const Item& input, Frame* frame,
                                     std::string_view code_of_name, std::string_view code) {
    auto callee = evaluate(*node.body, input, frame);
    if (callee.is_function()) {
        return *callee.function;
    }
    auto name = name_of(*node.body);
    if (callee.is_undefined() && node.body->kind == Kind::Path && find_builtin(name) != nullptr) {
        raise_at(node.position, code_of_name,
                 "attempted to invoke a non-function: did you mean ${}?", name);
    }
    raise_at(node.position, code, "attempted to invoke a non-function: {}", name);
}

Item Evaluator::evaluate_call(const Node& node, const Item& input, Frame* frame,
                              const Item* first) {
    const auto& function = callee_of(node, input, frame, "T1005", "T1006");
    auto count = node.children.size() + (first != nullptr ? 1 : 0);
    auto* arguments = arena_.make_many<Item>(count);
    auto* next = arguments;
    if (first != nullptr) {
        *next++ = *first;
    }
    for (const auto* part : node.children) {
        *next++ = evaluate(*part, input, frame);
    }
    if (node.is_tail && first == nullptr && function.kind == FunctionKind::Lambda) {
        auto* put_off = arena_.make<TailCall>();
        *put_off = {&function, arguments, static_cast<std::uint32_t>(count)};
        auto item = Item::of(Type::TailCall);
        item.tail_call = put_off;
        return item;
    }
    try {
        return call(function, {arguments, count}, input, frame);
    } catch (Raised& raised) {
        if (raised.fault.position == position_unknown) {
            raised.fault.position = node.position;
        }
        throw;
    }
}

Item Evaluator::call(const Function& function, std::span<const Item> arguments, const Item& context,
                     Frame* frame) {
    auto result = call_once(function, arguments, context, frame);
    while (result.type == Type::TailCall) {
        const auto& next = *result.tail_call;
        result = call_once(*next.function, {next.arguments, next.argument_count}, context, frame);
    }
    return result;
}

Item Evaluator::call_with(const Function& function, std::initializer_list<Item> arguments,
                          Frame* frame) {
    auto count = std::min(std::max<std::size_t>(arity_of(function), 1), arguments.size());
    auto* kept = arena_.make_many<Item>(count);
    std::copy_n(arguments.begin(), count, kept);
    return call(function, {kept, count}, Item{}, frame);
}

Item Evaluator::call_once(const Function& function, std::span<const Item> arguments,
                          const Item& context, Frame* frame) {
    spend(1);
    switch (function.kind) {
        case FunctionKind::Lambda: return call_lambda(function, arguments, context);
        case FunctionKind::Builtin: {
            const auto& builtin = *function.builtin;
            auto valid = validate(*function.signature, arguments, context, builtin.name);
            return builtin.run({*this, arena_, valid, context, frame});
        }
        case FunctionKind::Host: return call_host(function, arguments, context);
        case FunctionKind::Partial: return call_partial(function, arguments, context, frame);
        case FunctionKind::Chain: return call_chain(function, arguments, frame);
        case FunctionKind::Transform:
            return transform(function, arguments.empty() ? Item{} : arguments[0]);
        case FunctionKind::Regex:
            return arguments.empty() || !arguments[0].is_string()
                       ? Item{}
                       : regex_match(function, arguments[0], 0);
        case FunctionKind::NextMatch: return regex_match(function, function.input, function.offset);
    }
    return {};
}

std::span<const Item> Evaluator::validate(const Signature& signature,
                                          std::span<const Item> arguments, const Item& context,
                                          std::string_view name) {
    if (auto fitting = signature.fit(arguments, arena_)) {
        return *fitting;
    }
    auto valid = std::vector<Item>(arguments.begin(), arguments.end());
    signature.validate(valid, context, name, arena_);
    auto* kept = arena_.make_many<Item>(valid.size());
    std::ranges::copy(valid, kept);
    return {kept, valid.size()};
}

Item Evaluator::call_lambda(const Function& function, std::span<const Item> arguments,
                            const Item& context) {
    const auto& node = *function.node;
    if (node.signature) {
        arguments = validate(*node.signature, arguments, context, "λ");
    }
    auto* frame = arena_.make<Frame>();
    frame->parent = function.frame;
    auto count = node.children.size();
    frame->bindings = arena_.make_many<Binding>(count);
    frame->capacity = static_cast<std::uint32_t>(count);
    for (auto i = std::size_t{0}; i < count; ++i) {
        frame->bind(arena_, node.children[i]->name, i < arguments.size() ? arguments[i] : Item{});
    }
    return evaluate(*node.body, function.input, frame);
}

Item Evaluator::call_host(const Function& function, std::span<const Item> arguments,
                          const Item& context) {
    const auto& native = tree_.options.functions[function.host];
    if (function.signature != nullptr) {
        arguments = validate(*function.signature, arguments, context, native.name);
    }
    while (!arguments.empty() && arguments.back().is_undefined()) {
        arguments = arguments.first(arguments.size() - 1);
    }
    auto values = std::vector<Value>{};
    for (const auto& argument : arguments) {
        values.push_back(to_value(argument, *this, false));
    }
    auto answer = native.call(values, chance());
    if (auto* fault = std::get_if<Fault>(&answer)) {
        fault->position = position_unknown;
        throw Raised{std::move(*fault)};
    }
    if (std::holds_alternative<Undefined>(answer)) {
        return {};
    }
    return wrap(hold(std::get<Value>(std::move(answer))), arena_);
}

Item Evaluator::evaluate_partial(const Node& node, const Item& input, Frame* frame) {
    auto* partial = arena_.make<Function>();
    auto* arguments = arena_.make_many<Item>(node.children.size());
    for (auto i = std::size_t{0}; i < node.children.size(); ++i) {
        const auto& part = *node.children[i];
        arguments[i] =
            part.kind == Kind::Keyword ? Item::of(Type::Hole) : evaluate(part, input, frame);
    }
    partial->kind = FunctionKind::Partial;
    partial->first = &callee_of(node, input, frame, "T1007", "T1008");
    partial->arguments = arguments;
    partial->argument_count = static_cast<std::uint32_t>(node.children.size());
    return Item::of(partial);
}

Item Evaluator::call_partial(const Function& function, std::span<const Item> arguments,
                             const Item& context, Frame* frame) {
    auto* whole = arena_.make_many<Item>(function.argument_count);
    auto next = std::size_t{0};
    for (auto i = 0U; i < function.argument_count; ++i) {
        whole[i] = function.arguments[i];
        if (whole[i].type == Type::Hole) {
            whole[i] = next < arguments.size() ? arguments[next] : Item{};
            ++next;
        }
    }
    return call(*function.first, {whole, function.argument_count}, context, frame);
}

Item Evaluator::evaluate_apply(const Node& node, const Item& input, Frame* frame) {
    auto left = evaluate(*node.children[0], input, frame);
    const auto& right = *node.children[1];
    if (right.kind == Kind::Call) {
        // What belongs to the call alone: `$f()[0]` is no call any more.
        if (right.predicates.empty() && right.group == nullptr) {
            return evaluate_call(right, input, frame, &left);
        }
    }
    auto function = evaluate(right, input, frame);
    if (!function.is_function()) {
        raise_at(node.position, "T2006",
                 "the right side of the function application operator ~> must be a function");
    }
    if (!left.is_function()) {
        return call(*function.function, {&left, 1}, Item{}, frame);
    }
    auto* chain = arena_.make<Function>();
    chain->kind = FunctionKind::Chain;
    chain->first = left.function;
    chain->second = function.function;
    return Item::of(chain);
}

Item Evaluator::call_chain(const Function& function, std::span<const Item> arguments,
                           Frame* frame) {
    if (++depth_ > depth_max_) {
        raise("U1001", "calls are nested deeper than the budget allows");
    }
    auto between = call(*function.first,
                        arguments.first(std::min<std::size_t>(1, arguments.size())), Item{}, frame);
    auto result = call(*function.second, {&between, 1}, Item{}, frame);
    --depth_;
    return result;
}

Item Evaluator::transform(const Function& function, const Item& input) {
    if (input.is_undefined()) {
        return input;
    }
    if (!input.is_object() && !input.is_array()) {
        raise("T0410", "argument 1 of a transform must be an object or an array");
    }
    const auto& node = *function.node;
    auto copy = clone(input, *this);
    auto matches = evaluate(*node.children[0], copy, function.frame);
    if (!matches.is_undefined()) {
        auto items = Items{matches, arena_};
        for (auto i = std::size_t{0}; i < items.size(); ++i) {
            change(node, items[i], function.frame);
        }
    }
    return copy;
}

/// Updates and deletes members of an object of the copy.
void Evaluator::change(const Node& node, const Item& match, Frame* frame) {
    auto update = evaluate(*node.children[1], match, frame);
    if (!update.is_undefined() && !update.is_object()) {
        raise_at(node.children[1]->position, "T2011",
                 "the insert/update clause of the transform expression must evaluate to an object");
    }
    auto members = Members{update};
    for (auto i = std::size_t{0}; i < members.size() && match.type == Type::Object; ++i) {
        match.object->set(arena_, members.key(i), members.value(i, arena_));
    }
    if (node.children.size() < 3) {
        return;
    }
    auto deletions = evaluate(*node.children[2], match, frame);
    if (deletions.is_undefined()) {
        return;
    }
    auto keys = Items{deletions, arena_};
    for (auto i = std::size_t{0}; i < keys.size(); ++i) {
        if (!keys[i].is_string()) {
            raise_at(node.children[2]->position, "T2012",
                     "the delete clause of the transform expression must evaluate to a string or "
                     "array of strings");
        }
    }
    for (auto i = std::size_t{0}; i < keys.size() && match.type == Type::Object; ++i) {
        spend(match.object->size / 16);
        match.object->erase(keys[i].as_text());
    }
}

Item Evaluator::evaluate_text(std::string_view text, const Item& input, Frame* frame) {
    const auto& before = evaluated_.empty() ? tree_.names : evaluated_.back()->names;
    spend(10 + text.size() + before.texts().size() / 8);
    auto parsed = parse(text, tree_.options, before);
    auto offset = static_cast<std::uint32_t>(externals_.size());
    for (auto& node : parsed->nodes) {
        node.external += node.external != 0 ? offset : 0;
        node.may_be_local = true;
        node.has_bindings = true;
    }
    const auto& tree = *evaluated_.emplace_back(std::move(parsed));
    add_externals(tree);
    return evaluate(*tree.root, input, frame);
}

} // namespace sluice::expr::jsonata::internal
