#include "store/postgres/internal/page_cursor.h"

#include <algorithm>

#include "store/postgres/internal/parameters.h"

namespace sluice::store::postgres {
namespace {

constexpr auto first_page_rows = 128;
constexpr auto page_rows_min = 16;
constexpr auto page_rows_max = 4096;
constexpr auto page_bytes = std::size_t{1} << 20U;

Outcome<Rows> read_first(Connection& connection, std::string_view from, std::string_view to) {
    auto limit = int4(first_page_rows);
    return to.empty() ? connection.run_one({statements::page_to_end, {from, limit}})
                      : connection.run_one({statements::page, {from, to, limit}});
}

} // namespace

PageCursor::PageCursor(const Options& options, Readers& readers, Scans& scans,
                       std::string_view from, std::string_view to)
    : scans_(scans), where_(options.where()) {
    status_ = load(options, readers, from, to);
}

PageCursor::~PageCursor() {
    close();
}

Result<void> PageCursor::load(const Options& options, Readers& readers, std::string_view from,
                              std::string_view to) {
    rows_ = TRY(readers.insist(
        "a scan", [&](Connection& connection) { return read_first(connection, from, to); }));
    if (rows_.count() < first_page_rows) {
        return {};
    }
    // The next page must be of the same moment as the first, so the first is read once more with
    // it.
    auto count = next_count();
    rows_ = Rows{};
    auto opened = TRY(insist(options, "a scan", [&] { return scans_.open(from, to, count); }));
    portal_ = opened.portal;
    take(std::move(opened.rows), count);
    return {};
}

void PageCursor::next() {
    ++at_;
    if (at_ < rows_.count() || !portal_) {
        return;
    }
    auto count = next_count();
    auto rows = scans_.fetch(*portal_, count);
    if (!rows) {
        rows_ = Rows{};
        close();
        status_ =
            fail(rows.error().code, "postgres at {}: a scan: {}", where_, rows.error().message);
        return;
    }
    take(*std::move(rows), count);
}

void PageCursor::take(Rows rows, int wanted) {
    rows_ = std::move(rows);
    at_ = 0;
    if (rows_.count() < wanted) {
        close();
    }
}

void PageCursor::close() {
    if (portal_) {
        scans_.close(*portal_);
        portal_.reset();
    }
}

int PageCursor::next_count() const {
    auto bytes = std::size_t{1};
    for (auto row = 0; row < rows_.count(); ++row) {
        bytes += rows_.bytes(row, 0).size() + rows_.bytes(row, 1).size();
    }
    auto each = bytes / static_cast<std::size_t>(std::max(1, rows_.count())) + 1;
    return std::clamp(static_cast<int>(page_bytes / each), page_rows_min, page_rows_max);
}

} // namespace sluice::store::postgres
