#include "store/postgres/internal/rows.h"

#include <libpq-fe.h>

namespace sluice::store::postgres {

void ClearResult::operator()(pg_result* result) const {
    PQclear(result);
}

int Rows::count() const {
    return result_ == nullptr ? 0 : PQntuples(result_.get());
}

std::string_view Rows::bytes(int row, int column) const {
    return {PQgetvalue(result_.get(), row, column),
            static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

bool Rows::is_null(int row, int column) const {
    return PQgetisnull(result_.get(), row, column) != 0;
}

std::int64_t Rows::number(int row, int column) const {
    auto number = std::uint64_t{0};
    for (auto byte : bytes(row, column)) {
        number = (number << 8U) | static_cast<unsigned char>(byte);
    }
    return static_cast<std::int64_t>(number);
}

} // namespace sluice::store::postgres
