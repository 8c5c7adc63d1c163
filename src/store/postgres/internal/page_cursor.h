#pragma once

#include <optional>
#include <string>

#include "store/postgres/internal/readers.h"
#include "store/postgres/internal/scans.h"
#include "store/store.h"

namespace sluice::store::postgres {

/// A scan by pages. Most end with their first, which is one round trip and leaves nothing behind at
/// the server; the others go on in Scans.
class PageCursor final : public Cursor {
public:
    PageCursor(const Options& options, Readers& readers, Scans& scans, std::string_view from,
               std::string_view to);
    ~PageCursor() override;
    PageCursor(const PageCursor&) = delete;
    PageCursor& operator=(const PageCursor&) = delete;

    bool is_valid() const override { return at_ < rows_.count(); }
    std::string_view key() const override { return rows_.bytes(at_, 0); }
    std::string_view value() const override { return rows_.bytes(at_, 1); }
    void next() override;
    Result<void> status() const override { return status_; }

private:
    Result<void> load(const Options& options, Readers& readers, std::string_view from,
                      std::string_view to);
    void take(Rows rows, int wanted);
    void close();
    /// As many rows as make a page of the wanted size, if they are like those of the last one.
    int next_count() const;

    Scans& scans_;
    std::string where_;
    std::optional<Scans::Portal> portal_;
    Rows rows_;
    int at_ = 0;
    Result<void> status_;
};

} // namespace sluice::store::postgres
