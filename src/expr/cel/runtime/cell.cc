#include "expr/cel/runtime/cell.h"

#include <array>
#include <chrono>
#include <functional>

#include "expr/cel/runtime/comparison.h"

namespace sluice::expr::cel::runtime {
namespace {

constexpr auto kind_names = std::array<std::string_view, 15>{"null_type",
                                                             "bool",
                                                             "int",
                                                             "uint",
                                                             "double",
                                                             "string",
                                                             "bytes",
                                                             "list",
                                                             "map",
                                                             "google.protobuf.Timestamp",
                                                             "google.protobuf.Duration",
                                                             "type",
                                                             "optional_type",
                                                             "net.IP",
                                                             "net.CIDR"};

Moment moment_of(Time time) {
    auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    return {seconds.time_since_epoch().count(),
            static_cast<std::uint32_t>((time - seconds).count())};
}

} // namespace

std::string_view name_of(Kind kind) {
    return kind == Kind::Fault ? "fault" : kind_names[static_cast<std::size_t>(kind)];
}

Kind kind_named(std::string_view name) {
    auto at = std::size_t{0};
    while (at < kind_names.size() && kind_names[at] != name) {
        ++at;
    }
    return static_cast<Kind>(at);
}

Cell Cell::map(const MapTable& table) {
    return {Kind::Map, {.table = &table}, table.entries.size()};
}

Cell Cell::view(const Value& value) {
    switch (value.kind()) {
        case value::Kind::Null: return {};
        case value::Kind::Bool: return boolean(value.as_bool());
        case value::Kind::Int: return integer(value.as_int());
        case value::Kind::Uint: return unsigned_integer(value.as_uint());
        case value::Kind::Double: return real(value.as_double());
        case value::Kind::String: return string(value.as_string());
        case value::Kind::Bytes: return bytes(value.as_bytes());
        case value::Kind::Timestamp: return timestamp(moment_of(value.as_timestamp()));
        case value::Kind::Duration: return duration(value.as_duration().count());
        case value::Kind::List:
        case value::Kind::Map: break;
    }
    auto cell = Cell{value.is_list() ? Kind::List : Kind::Map, {.value = &value}, value.size()};
    cell.is_viewed_ = true;
    return cell;
}

Cell Cell::item(std::size_t at) const {
    return is_viewed_ ? view(payload_.value->as_list()[at]) : payload_.cells[at];
}

Entry Cell::entry(std::size_t at) const {
    if (!is_viewed_) {
        return payload_.table->entries[at];
    }
    const auto& member = payload_.value->as_map()[at];
    return {string(member.key), view(member.value)};
}

bool Cell::find(std::string_view key, Cell& found) const {
    if (!is_viewed_) {
        return find(string(key), found);
    }
    const auto* member = payload_.value->find(key);
    if (member == nullptr) {
        return false;
    }
    found = view(*member);
    return true;
}

bool Cell::find(const Cell& key, Cell& found) const {
    if (is_viewed_) {
        return key.is(Kind::String) && find(key.text(), found);
    }
    const auto* entry = payload_.table->find(key);
    if (entry == nullptr) {
        return false;
    }
    found = entry->value;
    return true;
}

const Entry* MapTable::find(const Cell& key) const {
    if (slots.empty()) {
        for (const auto& entry : entries) {
            if (are_keys_equal(entry.key, key)) {
                return &entry;
            }
        }
        return nullptr;
    }
    for (auto at = hash_key(key);; ++at) {
        auto place = slots[at & (slots.size() - 1)];
        if (place == 0) {
            return nullptr;
        }
        if (are_keys_equal(entries[place - 1].key, key)) {
            return &entries[place - 1];
        }
    }
}

bool is_key(const Cell& cell) {
    return cell.is(Kind::String) || cell.is(Kind::Int) || cell.is(Kind::Uint) ||
           cell.is(Kind::Bool);
}

std::uint64_t hash_key(const Cell& key) {
    switch (key.kind()) {
        case Kind::String: return std::hash<std::string_view>{}(key.text());
        case Kind::Bool: return key.as_bool() ? 3 : 5;
        case Kind::Int: return key.as_uint() * 0x9e3779b97f4a7c15U;
        case Kind::Uint: return key.as_uint() * 0x9e3779b97f4a7c15U;
        case Kind::Double: break;
        default: return 0;
    }
    auto number = key.as_double();
    auto whole = number >= 0 && number < 0x1p64 ? static_cast<std::uint64_t>(number)
                 : number < 0 && number >= -0x1p63
                     ? static_cast<std::uint64_t>(static_cast<std::int64_t>(number))
                     : 0;
    return whole * 0x9e3779b97f4a7c15U;
}

bool are_keys_equal(const Cell& left, const Cell& right) {
    if (left.is_number() && right.is_number()) {
        return compare_numbers(left, right) == 0;
    }
    if (left.kind() != right.kind()) {
        return false;
    }
    return left.is(Kind::String) ? left.text() == right.text()
                                 : left.is(Kind::Bool) && left.as_bool() == right.as_bool();
}

} // namespace sluice::expr::cel::runtime
