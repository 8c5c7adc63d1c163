#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "expr/jsonata/internal/arena.h"
#include "value/value.h"

namespace sluice::expr::jsonata::internal {

struct Node;
struct Builtin;
struct Array;
struct Object;
struct Function;
struct Tuple;
struct TailCall;

enum class Type : std::uint8_t {
    Undefined,
    Null,
    Bool,
    Int,
    Double,
    String,
    List, ///< Borrowed from a Value.
    Map,  ///< Borrowed from a Value.
    Array,
    Object,
    Function,
    Tuple, ///< Of a tuple stream, never seen by an author.
    Hole,  ///< The `?` of a partial application.
    TailCall, ///< What a lambda's last call is put off as.
};

/// What an expression works on: JSON, borrowed or made, undefined, or a function. Does not own:
/// what it points to lives in the input, the bindings, the tree or the evaluation's arena.
struct Item {
    Type type = Type::Undefined;
    std::uint32_t length = 0; ///< Of a string.
    union {
        bool truth;
        std::int64_t integer = 0;
        double real;
        const char* text;
        const Value* value;
        Array* array;
        Object* object;
        const Function* function;
        const Tuple* tuple;
        const TailCall* tail_call;
    };

    static Item null() { return of(Type::Null); }
    static Item of(Type type) {
        auto item = Item{};
        item.type = type;
        return item;
    }
    static Item of(bool truth) {
        auto item = of(Type::Bool);
        item.truth = truth;
        return item;
    }
    static Item of(std::int64_t integer) {
        auto item = of(Type::Int);
        item.integer = integer;
        return item;
    }
    static Item of(double real) {
        auto item = of(Type::Double);
        item.real = real;
        return item;
    }
    /// Borrowed: lives as long as the evaluation.
    static Item of(std::string_view text) {
        auto item = of(Type::String);
        item.length = static_cast<std::uint32_t>(text.size());
        item.text = text.data();
        return item;
    }
    static Item of(Array* array) {
        auto item = of(Type::Array);
        item.array = array;
        return item;
    }
    static Item of(Object* object) {
        auto item = of(Type::Object);
        item.object = object;
        return item;
    }
    static Item of(const Function* function) {
        auto item = of(Type::Function);
        item.function = function;
        return item;
    }
    static Item of(const Tuple* tuple) {
        auto item = of(Type::Tuple);
        item.tuple = tuple;
        return item;
    }
    static Item of(const char*) = delete;
    static Item of(int) = delete;

    bool is_undefined() const { return type == Type::Undefined; }
    bool is_null() const { return type == Type::Null; }
    bool is_bool() const { return type == Type::Bool; }
    bool is_number() const { return type == Type::Int || type == Type::Double; }
    bool is_string() const { return type == Type::String; }
    bool is_array() const { return type == Type::Array || type == Type::List; }
    bool is_object() const { return type == Type::Object || type == Type::Map; }
    bool is_function() const { return type == Type::Function; }

    std::string_view as_text() const { return {text, length}; }
    double as_double() const { return type == Type::Int ? static_cast<double>(integer) : real; }
};

static_assert(sizeof(Item) == 16);

/// A made array. JSONata's sequences are arrays that vanish into their only item.
struct Array {
    Item* items = nullptr;
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;
    bool is_sequence = false;
    bool keeps_singleton = false;
    bool is_constructed = false; ///< By `[…]` at an end of a path: is not flattened.
    bool is_outer = false;       ///< Around an input that is an array itself.
    bool is_tuple_stream = false;
    bool is_range = false; ///< Whole numbers that count up from `first`; there are no items.
    std::int64_t first = 0;

    Item at(std::size_t index) const {
        return is_range ? Item::of(first + static_cast<std::int64_t>(index)) : items[index];
    }
    void push(Arena& arena, Item item);
    void reserve(Arena& arena, std::size_t count);
};

/// A made object; members in the order in which they came.
struct Object {
    struct Member {
        std::string_view key;
        Item value;
    };

    Member* members = nullptr;
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;
    std::uint32_t* index = nullptr; ///< Hashed places, once there are many members.
    std::uint32_t index_size = 0;

    Member* find(std::string_view key) const;
    /// The key is borrowed.
    void set(Arena& arena, std::string_view key, Item value);
    void erase(std::string_view key);

private:
    void add_to_index(Arena& arena);
};

struct Binding {
    std::uint32_t name = 0;
    Item value;
};

/// The variables of a block or call.
struct Frame {
    Frame* parent = nullptr;
    Binding* bindings = nullptr;
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;

    const Item* find(std::uint32_t name) const {
        for (const auto* frame = this; frame != nullptr; frame = frame->parent) {
            for (auto i = frame->size; i-- > 0;) {
                if (frame->bindings[i].name == name) {
                    return &frame->bindings[i].value;
                }
            }
        }
        return nullptr;
    }
    void bind(Arena& arena, std::uint32_t name, Item value);
};

/// An item on its way through a path together with what `@`, `#` and `%` remember of that way.
struct Tuple {
    Item context;
    Binding* bindings = nullptr;
    std::uint32_t size = 0;

    const Item* find(std::uint32_t name) const;
};

enum class FunctionKind : std::uint8_t {
    Lambda,
    Builtin,
    Host,
    Partial,
    Chain, ///< `f ~> g`
    Transform,
    Regex,
    NextMatch,
};

struct Function {
    FunctionKind kind = FunctionKind::Lambda;
    const Node* node = nullptr; ///< Lambda, Transform, Regex, NextMatch.
    const Builtin* builtin = nullptr;
    std::uint32_t host = 0; ///< Its place in the options.
    Frame* frame = nullptr;
    Item input;                        ///< NextMatch: the text.
    const Function* first = nullptr;   ///< Partial: what is called; Chain: what is called first.
    const Function* second = nullptr;  ///< Chain.
    const Item* arguments = nullptr;   ///< Partial: with holes.
    std::uint32_t argument_count = 0;
    std::size_t offset = 0; ///< NextMatch: the byte where to go on.
};

/// A call that is made once its caller has been left.
struct TailCall {
    const Function* function = nullptr;
    const Item* arguments = nullptr;
    std::uint32_t argument_count = 0;
};

Item wrap(const Value& value, Arena& arena);

/// The items of an array of either kind; of anything else, that one item.
class Items {
public:
    Items(const Item& item, Arena& arena);
    /// An item as it is, even an array.
    static Items one(const Item& item, Arena& arena) {
        auto items = Items{Item{}, arena};
        items.single_ = item;
        return items;
    }

    std::size_t size() const { return size_; }
    Item operator[](std::size_t index) const {
        if (values_ != nullptr) {
            return wrap(values_[index], *arena_);
        }
        return array_ != nullptr ? array_->at(index) : single_;
    }

private:
    const Value* values_ = nullptr;
    const Array* array_ = nullptr;
    Item single_;
    std::size_t size_ = 1;
    Arena* arena_;
};

/// The members of an object of either kind; none of anything else.
class Members {
public:
    explicit Members(const Item& item);

    std::size_t size() const { return size_; }
    std::string_view key(std::size_t index) const;
    Item value(std::size_t index, Arena& arena) const;

private:
    const value::Member* values_ = nullptr;
    const Object::Member* members_ = nullptr;
    std::size_t size_ = 0;
};

std::size_t size_of(const Item& array);
/// The member of an object; undefined when there is none.
Item member_of(const Item& object, std::string_view key, Arena& arena);

Array* make_array(Arena& arena);
Array* make_sequence(Arena& arena);
Array* make_sequence(Arena& arena, Item item);
/// Is an array that is a sequence.
bool is_sequence(const Item& item);

/// A number as an integer where it is whole and exact.
Item number(double real);

} // namespace sluice::expr::jsonata::internal
