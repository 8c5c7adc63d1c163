#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

// libpq's PGresult.
struct pg_result;

namespace sluice::store::postgres {

struct ClearResult {
    void operator()(pg_result* result) const;
};
using OwnedResult = std::unique_ptr<pg_result, ClearResult>;

/// What a statement gave, in binary form.
class Rows {
public:
    Rows() = default;
    explicit Rows(OwnedResult result) : result_(std::move(result)) {}

    int count() const;
    std::string_view bytes(int row, int column) const;
    bool is_null(int row, int column) const;
    /// Of any of the integer types; of a bool 0 or 1.
    std::int64_t number(int row, int column) const;

private:
    OwnedResult result_;
};

} // namespace sluice::store::postgres
