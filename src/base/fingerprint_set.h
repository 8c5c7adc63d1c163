#pragma once

#include <cstddef>
#include <vector>

#include "base/fingerprint.h"

namespace sluice {

/// A set of fingerprints, for millions of them: each has one place in memory that can be fetched
/// ahead, and growing moves a small part at a time.
class FingerprintSet {
public:
    /// False when it is there already.
    bool insert(const Fingerprint& print);
    bool contains(const Fingerprint& print) const;
    void erase(const Fingerprint& print);
    std::size_t size() const { return size_; }
    /// It will be asked for soon.
    void prefetch(const Fingerprint& print) const;

private:
    /// Open addressing; what is all zero is free.
    class Table {
    public:
        explicit Table(double load_max) : load_max_(load_max) {}

        /// Where it is, or the free slot where it would be.
        std::size_t find(const Fingerprint& print) const;
        std::size_t home_of(const Fingerprint& print) const { return print.low & mask_; }
        bool insert(const Fingerprint& print);
        bool erase(const Fingerprint& print);
        void grow();

        std::vector<Fingerprint> slots; ///< None, or a power of two.

    private:
        double load_max_;
        std::size_t mask_ = 0;
        std::size_t taken_ = 0;
        std::size_t taken_max_ = 0; ///< Before it grows.
    };

    std::size_t table_of(const Fingerprint& print) const;
    void split();

    std::vector<Table> tables_; ///< One, or once there are many `tables_max`.
    std::size_t size_ = 0;
};

} // namespace sluice
