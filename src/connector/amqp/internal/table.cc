#include "connector/amqp/internal/table.h"

#include "connector/amqp/internal/bytes.h"

namespace sluice::connector::amqp::internal {

Table& Table::text(std::string_view name, std::string_view value) {
    auto entry = amqp_table_entry_t{};
    entry.key = bytes_of(name);
    entry.value.kind = AMQP_FIELD_KIND_UTF8;
    entry.value.value.bytes = bytes_of(value);
    entries_.push_back(entry);
    return *this;
}

Table& Table::number(std::string_view name, std::int64_t value) {
    auto entry = amqp_table_entry_t{};
    entry.key = bytes_of(name);
    entry.value.kind = AMQP_FIELD_KIND_I64;
    entry.value.value.i64 = value;
    entries_.push_back(entry);
    return *this;
}

Table& Table::boolean(std::string_view name, bool value) {
    auto entry = amqp_table_entry_t{};
    entry.key = bytes_of(name);
    entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
    entry.value.value.boolean = value ? 1 : 0;
    entries_.push_back(entry);
    return *this;
}

amqp_table_t Table::view() {
    return {.num_entries = static_cast<int>(entries_.size()), .entries = entries_.data()};
}

} // namespace sluice::connector::amqp::internal
