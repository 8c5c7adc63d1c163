#include "expr/jsonata/internal/item.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <bit>

#include "value/json.h"

namespace sluice::expr::jsonata::internal {
namespace {

constexpr std::uint32_t linear_members_max = 12;
constexpr double whole_max = 9007199254740992.0; // 2^53

/// The elements in a block of twice the size, or of `wanted`.
template <typename T>
void grow(Arena& arena, T*& elements, std::uint32_t size, std::uint32_t& capacity,
          std::size_t wanted) {
    auto count = std::max<std::size_t>({wanted, 2UL * capacity, 4});
    auto* larger = arena.make_many<T>(count);
    std::copy(elements, elements + size, larger);
    elements = larger;
    capacity = static_cast<std::uint32_t>(count);
}

/// Kinds that JSON lacks, as JSON writes them.
Item wrap_as_text(const Value& value, Arena& arena) {
    auto text = value::to_json(value);
    return Item::of(arena.copy(std::string_view{text}.substr(1, text.size() - 2)));
}

Item borrowed(Type type, const Value& value) {
    auto item = Item::of(type);
    item.value = &value;
    return item;
}

} // namespace

void Array::push(Arena& arena, Item item) {
    if (size == capacity) {
        grow(arena, items, size, capacity, 0);
    }
    items[size++] = item;
}

void Array::reserve(Arena& arena, std::size_t count) {
    if (count > capacity) {
        grow(arena, items, size, capacity, count);
    }
}

Object::Member* Object::find(std::string_view key) const {
    if (index == nullptr) {
        auto* found = std::find_if(members, members + size,
                                   [&](const Member& member) { return member.key == key; });
        return found == members + size ? nullptr : found;
    }
    auto mask = index_size - 1;
    auto place = static_cast<std::uint32_t>(std::hash<std::string_view>{}(key)) & mask;
    for (; index[place] != 0; place = (place + 1) & mask) {
        auto* member = members + index[place] - 1;
        if (member->key == key) {
            return member;
        }
    }
    return nullptr;
}

void Object::set(Arena& arena, std::string_view key, Item value) {
    if (auto* member = find(key)) {
        member->value = value;
        return;
    }
    if (size == capacity) {
        grow(arena, members, size, capacity, 0);
    }
    members[size++] = {key, value};
    if (size > linear_members_max) {
        add_to_index(arena);
    }
}

void Object::add_to_index(Arena& arena) {
    auto from = size - 1;
    if (2 * size > index_size) {
        index_size = std::max(64U, 4 * std::bit_ceil(size));
        index = arena.make_many<std::uint32_t>(index_size);
        from = 0;
    }
    auto mask = index_size - 1;
    for (auto i = from; i < size; ++i) {
        auto place = static_cast<std::uint32_t>(std::hash<std::string_view>{}(members[i].key));
        for (place &= mask; index[place] != 0; place = (place + 1) & mask) {
        }
        index[place] = i + 1;
    }
}

void Object::erase(std::string_view key) {
    auto* member = find(key);
    if (member == nullptr) {
        return;
    }
    std::move(member + 1, members + size, member);
    --size;
    index = nullptr; // Found by looking at each from now on; the next that is set rebuilds it.
    index_size = 0;
}

void Frame::bind(Arena& arena, std::uint32_t name, Item value) {
    for (auto i = 0U; i < size; ++i) {
        if (bindings[i].name == name) {
            bindings[i].value = value;
            return;
        }
    }
    if (size == capacity) {
        grow(arena, bindings, size, capacity, 0);
    }
    bindings[size++] = {name, value};
}

const Item* Tuple::find(std::uint32_t name) const {
    for (auto i = 0U; i < size; ++i) {
        if (bindings[i].name == name) {
            return &bindings[i].value;
        }
    }
    return nullptr;
}

Item wrap(const Value& value, Arena& arena) {
    using value::Kind;
    switch (value.kind()) {
        case Kind::Null: return Item::null();
        case Kind::Bool: return Item::of(value.as_bool());
        case Kind::Int: return Item::of(value.as_int());
        case Kind::Uint: return Item::of(static_cast<double>(value.as_uint()));
        case Kind::Double: return Item::of(value.as_double());
        case Kind::String: return Item::of(value.as_string());
        case Kind::List: return borrowed(Type::List, value);
        case Kind::Map: return borrowed(Type::Map, value);
        case Kind::Bytes:
        case Kind::Timestamp:
        case Kind::Duration: return wrap_as_text(value, arena);
    }
    return {};
}

Items::Items(const Item& item, Arena& arena) : arena_{&arena} {
    if (item.type == Type::List) {
        auto list = item.value->as_list();
        values_ = list.data();
        size_ = list.size();
    } else if (item.type == Type::Array) {
        array_ = item.array;
        size_ = array_->size;
    } else {
        single_ = item;
    }
}

Members::Members(const Item& item) {
    if (item.type == Type::Map) {
        auto map = item.value->as_map();
        values_ = map.data();
        size_ = map.size();
    } else if (item.type == Type::Object) {
        members_ = item.object->members;
        size_ = item.object->size;
    }
}

std::string_view Members::key(std::size_t index) const {
    return values_ != nullptr ? std::string_view{values_[index].key} : members_[index].key;
}

Item Members::value(std::size_t index, Arena& arena) const {
    return values_ != nullptr ? wrap(values_[index].value, arena) : members_[index].value;
}

std::size_t size_of(const Item& array) {
    return array.type == Type::List ? array.value->size() : array.array->size;
}

Item member_of(const Item& object, std::string_view key, Arena& arena) {
    if (object.type == Type::Map) {
        const auto* found = object.value->find(key);
        return found != nullptr ? wrap(*found, arena) : Item{};
    }
    if (object.type == Type::Object) {
        const auto* found = object.object->find(key);
        return found != nullptr ? found->value : Item{};
    }
    return {};
}

Array* make_array(Arena& arena) {
    return arena.make<Array>();
}

Array* make_sequence(Arena& arena) {
    auto* sequence = arena.make<Array>();
    sequence->is_sequence = true;
    return sequence;
}

Array* make_sequence(Arena& arena, Item item) {
    auto* sequence = make_sequence(arena);
    sequence->push(arena, item);
    return sequence;
}

bool is_sequence(const Item& item) {
    return item.type == Type::Array && item.array->is_sequence;
}

Item number(double real) {
    auto is_whole = std::abs(real) <= whole_max && real == std::trunc(real);
    return is_whole ? Item::of(static_cast<std::int64_t>(real)) : Item::of(real);
}

} // namespace sluice::expr::jsonata::internal
