#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <amqp.h>

namespace sluice::connector::amqp::internal {

/// A table to be sent. Names and texts must outlive it.
class Table {
public:
    Table& text(std::string_view name, std::string_view value);
    Table& number(std::string_view name, std::int64_t value);
    Table& boolean(std::string_view name, bool value);

    void clear() { entries_.clear(); }
    amqp_table_t view();

private:
    std::vector<amqp_table_entry_t> entries_;
};

} // namespace sluice::connector::amqp::internal
