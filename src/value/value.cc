#include "value/value.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "base/invariant.h"
#include "value/internal/key_index.h"

namespace sluice::value {

namespace {

/// Up to eight bytes, the first the lowest.
std::uint64_t word_of(std::string_view bytes) {
    auto word = std::uint64_t{0};
    if (bytes.size() == sizeof(word)) {
        std::memcpy(&word, bytes.data(), sizeof(word));
        return word;
    }
    for (auto at = bytes.size(); at-- > 0;) {
        word = (word << 8U) | static_cast<unsigned char>(bytes[at]);
    }
    return word;
}

} // namespace

struct Value::Heap {
    explicit Heap(Kind of) : kind(of) {}

    std::atomic<std::uint32_t> count = 1;
    Kind kind;
    Heap* next_dead = nullptr; ///< Chains the blocks that `release` has still to free.

    struct Text;
    struct List;
    struct Map;

    static Text* make_text(Kind kind, std::string_view bytes);
    template <typename Visit>
    void for_each_child(Visit visit);
    void free();
};

/// Its bytes follow it in the same allocation.
struct Value::Heap::Text : Heap {
    Text(Kind of, std::size_t bytes) : Heap(of), size(bytes) {}

    char* data() { return reinterpret_cast<char*>(this + 1); }

    std::size_t size;
};

struct Value::Heap::List : Heap {
    explicit List(std::vector<Value> values) : Heap(Kind::List), items(std::move(values)) {}

    std::vector<Value> items;
};

struct Value::Heap::Map : Heap {
    explicit Map(std::vector<Member> all)
        : Heap(Kind::Map), members(std::move(all)), index(KeyIndex::merge_repeated(members)) {}

    std::vector<Member> members;
    KeyIndex index;
};

Value::Heap::Text* Value::Heap::make_text(Kind kind, std::string_view bytes) {
    auto* block = ::operator new(sizeof(Text) + bytes.size());
    auto* text = new (block) Text(kind, bytes.size());
    std::memcpy(text->data(), bytes.data(), bytes.size());
    return text;
}

template <typename Visit>
void Value::Heap::for_each_child(Visit visit) {
    if (kind == Kind::List) {
        std::ranges::for_each(static_cast<List*>(this)->items, visit);
    } else if (kind == Kind::Map) {
        std::ranges::for_each(static_cast<Map*>(this)->members, visit, &Member::value);
    }
}

void Value::Heap::free() {
    if (kind == Kind::List) {
        delete static_cast<List*>(this);
    } else if (kind == Kind::Map) {
        delete static_cast<Map*>(this);
    } else {
        static_cast<Text*>(this)->~Text();
        ::operator delete(this);
    }
}

Value Value::shared(Kind kind, Heap* heap) {
    return {static_cast<Kind>(static_cast<unsigned char>(kind) | shared_bit), heap};
}

Value::Value(Kind kind, std::string_view bytes) {
    if (bytes.size() > small_bytes_max) {
        *this = shared(kind, Heap::make_text(kind, bytes));
        return;
    }
    auto high = bytes.size() > 8 ? word_of(bytes.substr(8)) : 0;
    high |= std::uint64_t{bytes.size()} << length_shift;
    high |= std::uint64_t{static_cast<unsigned char>(kind)} << tag_shift;
    write(Whole{word_of(bytes.substr(0, 8)), high});
}

Value::Heap* Value::heap() const {
    return scalar<Heap*>();
}

std::string_view Value::text_view() const {
    if (!is_shared()) {
        return {reinterpret_cast<const char*>(storage_), storage_[length_at]};
    }
    auto* text = static_cast<Heap::Text*>(heap());
    return {text->data(), text->size};
}

void Value::add_reference() const noexcept {
    heap()->count.fetch_add(1, std::memory_order_relaxed);
}

bool Value::drop_reference() noexcept {
    return heap()->count.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void Value::release() noexcept {
    if (!drop_reference()) {
        return;
    }
    // A chain instead of recursion: a value may be nested deeper than the stack is.
    auto* dead = heap();
    while (dead != nullptr) {
        auto* block = std::exchange(dead, dead->next_dead);
        block->for_each_child([&dead](Value& child) {
            if (child.is_shared() && child.drop_reference()) {
                child.heap()->next_dead = dead;
                dead = child.heap();
            }
            child.storage_[tag_at] = 0;
        });
        block->free();
    }
}

Value::Value(std::string_view text) : Value(Kind::String, text) {}
Value::Value(const std::string& text) : Value(std::string_view{text}) {}
Value::Value(const char* text) : Value(std::string_view{text}) {}
Value::Value(Time time) : Value(Kind::Timestamp, std::int64_t{time.time_since_epoch().count()}) {}
Value::Value(Nanos duration) : Value(Kind::Duration, std::int64_t{duration.count()}) {}

Value Value::bytes(std::string_view bytes) {
    return {Kind::Bytes, bytes};
}

Value Value::list(std::vector<Value> items) {
    return shared(Kind::List, new Heap::List(std::move(items)));
}

Value Value::map(std::vector<Member> members) {
    return shared(Kind::Map, new Heap::Map(std::move(members)));
}

Value Value::object(std::initializer_list<Member> members) {
    return map(std::vector<Member>(members));
}

bool Value::is_number() const {
    return is_int() || is_uint() || is_double();
}

std::string_view Value::as_string() const {
    INVARIANT(is_string(), "only a string can be read as one");
    return text_view();
}

std::string_view Value::as_bytes() const {
    INVARIANT(is_bytes(), "only bytes can be read as such");
    return text_view();
}

std::span<const Value> Value::as_list() const {
    INVARIANT(is_list(), "only a list can be read as one");
    return static_cast<Heap::List*>(heap())->items;
}

std::span<const Member> Value::as_map() const {
    INVARIANT(is_map(), "only a map can be read as one");
    return static_cast<Heap::Map*>(heap())->members;
}

Time Value::as_timestamp() const {
    INVARIANT(is_timestamp(), "only a timestamp can be read as one");
    return Time{Nanos{scalar<std::int64_t>()}};
}

Nanos Value::as_duration() const {
    INVARIANT(is_duration(), "only a duration can be read as one");
    return Nanos{scalar<std::int64_t>()};
}

const Value* Value::find(std::string_view key) const {
    if (!is_map()) {
        return nullptr;
    }
    const auto& map = static_cast<const Heap::Map&>(*heap());
    auto at = map.index.find(map.members, key);
    return at < map.members.size() ? &map.members[at].value : nullptr;
}

std::size_t Value::size() const {
    switch (kind()) {
        case Kind::String:
        case Kind::Bytes: return text_view().size();
        case Kind::List: return as_list().size();
        case Kind::Map: return as_map().size();
        default: return 0;
    }
}

Value Value::with(std::string_view key, Value member) const {
    auto old = is_null() ? std::span<const Member>{} : as_map();
    auto members = std::vector<Member>{};
    members.reserve(old.size() + 1);
    members.assign(old.begin(), old.end());
    members.push_back({std::string{key}, std::move(member)});
    return map(std::move(members));
}

Value Value::without(std::string_view key) const {
    auto members = std::vector<Member>{};
    for (const auto& member : is_null() ? std::span<const Member>{} : as_map()) {
        if (member.key != key) {
            members.push_back(member);
        }
    }
    return map(std::move(members));
}

std::string_view to_string(Kind kind) {
    switch (kind) {
        case Kind::Null: return "null";
        case Kind::Bool: return "bool";
        case Kind::Int: return "int";
        case Kind::Uint: return "uint";
        case Kind::Double: return "double";
        case Kind::String: return "string";
        case Kind::Bytes: return "bytes";
        case Kind::List: return "list";
        case Kind::Map: return "map";
        case Kind::Timestamp: return "timestamp";
        case Kind::Duration: return "duration";
    }
    return "unknown";
}

} // namespace sluice::value
