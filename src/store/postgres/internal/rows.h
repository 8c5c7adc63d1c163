#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <libpq-fe.h>

namespace sluice::store::postgres {

struct ClearResult {
    void operator()(PGresult* result) const { PQclear(result); }
};
using OwnedResult = std::unique_ptr<PGresult, ClearResult>;

/// What a statement gave, in binary form.
class Rows {
public:
    Rows() = default;
    explicit Rows(OwnedResult result) : result_(std::move(result)) {}

    int count() const { return result_ == nullptr ? 0 : PQntuples(result_.get()); }
    std::string_view bytes(int row, int column) const {
        return {PQgetvalue(result_.get(), row, column),
                static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
    }
    bool is_null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }
    /// Of any of the integer types; of a bool 0 or 1.
    std::int64_t number(int row, int column) const {
        auto number = std::uint64_t{0};
        for (auto byte : bytes(row, column)) {
            number = (number << 8U) | static_cast<unsigned char>(byte);
        }
        return static_cast<std::int64_t>(number);
    }

private:
    OwnedResult result_;
};

} // namespace sluice::store::postgres
