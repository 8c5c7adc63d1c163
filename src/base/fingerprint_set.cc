#include "base/fingerprint_set.h"

#include <utility>

namespace sluice {
namespace {

constexpr auto slots_min = std::size_t{8};
constexpr auto tables_max = std::size_t{256};
constexpr auto table_bits = 8U;
// So many in one table move within a few hundred microseconds.
constexpr auto size_of_one_max = std::size_t{8192};
constexpr auto load_of_one_max = 2.0 / 3;
constexpr auto load_max_least = 0.4; ///< Of many tables; the last takes nearly twice that.
constexpr auto free_slot = Fingerprint{};

/// A text whose fingerprint is all zero is as likely as two texts that share one.
Fingerprint stored_form(const Fingerprint& print) {
    return print == free_slot ? Fingerprint{.high = 0, .low = 1} : print;
}

} // namespace

std::size_t FingerprintSet::Table::find(const Fingerprint& print) const {
    auto slot = home_of(print);
    while (slots[slot] != free_slot && slots[slot] != print) {
        slot = (slot + 1) & mask_;
    }
    return slot;
}

bool FingerprintSet::Table::insert(const Fingerprint& print) {
    if (taken_ == taken_max_) {
        grow();
    }
    auto& slot = slots[find(print)];
    if (slot == print) {
        return false;
    }
    slot = print;
    ++taken_;
    return true;
}

bool FingerprintSet::Table::erase(const Fingerprint& print) {
    if (slots.empty() || slots[find(print)] == free_slot) {
        return false;
    }
    auto hole = find(print);
    // What it had pushed on moves up, so that no search ends too early.
    for (auto slot = (hole + 1) & mask_; slots[slot] != free_slot; slot = (slot + 1) & mask_) {
        auto from_home = (slot - home_of(slots[slot])) & mask_;
        if (from_home >= ((slot - hole) & mask_)) {
            slots[hole] = slots[slot];
            hole = slot;
        }
    }
    slots[hole] = free_slot;
    --taken_;
    return true;
}

void FingerprintSet::Table::grow() {
    auto count = slots.empty() ? slots_min : slots.size() * 2;
    auto before = std::exchange(slots, std::vector<Fingerprint>(count));
    mask_ = count - 1;
    taken_max_ = static_cast<std::size_t>(static_cast<double>(count) * load_max_);
    for (const auto& print : before) {
        if (print == free_slot) {
            continue;
        }
        auto slot = home_of(print); // None of them is there twice.
        while (slots[slot] != free_slot) {
            slot = (slot + 1) & mask_;
        }
        slots[slot] = print;
    }
}

std::size_t FingerprintSet::table_of(const Fingerprint& print) const {
    return tables_.size() > 1 ? print.high >> (64U - table_bits) : 0;
}

bool FingerprintSet::insert(const Fingerprint& print) {
    if (tables_.empty()) {
        tables_.emplace_back(load_of_one_max);
    } else if (tables_.size() == 1 && size_ == size_of_one_max) {
        split();
    }
    auto stored = stored_form(print);
    if (!tables_[table_of(stored)].insert(stored)) {
        return false;
    }
    ++size_;
    return true;
}

void FingerprintSet::split() {
    auto one = std::exchange(tables_, {});
    // Hashed alike, they would all grow at once if each took as many.
    for (auto at = std::size_t{0}; at < tables_max; ++at) {
        auto share = static_cast<double>(at) / static_cast<double>(tables_max);
        tables_.emplace_back(load_max_least * (1 + share));
    }
    for (const auto& print : one.front().slots) {
        if (print != free_slot) {
            tables_[table_of(print)].insert(print);
        }
    }
}

bool FingerprintSet::contains(const Fingerprint& print) const {
    if (size_ == 0) {
        return false;
    }
    auto stored = stored_form(print);
    const auto& table = tables_[table_of(stored)];
    return !table.slots.empty() && table.slots[table.find(stored)] != free_slot;
}

void FingerprintSet::erase(const Fingerprint& print) {
    auto stored = stored_form(print);
    if (size_ > 0 && tables_[table_of(stored)].erase(stored)) {
        --size_;
    }
}

void FingerprintSet::prefetch(const Fingerprint& print) const {
    if (size_ > 0) {
        const auto& table = tables_[table_of(print)];
        __builtin_prefetch(table.slots.data() + table.home_of(print), 1);
    }
}

} // namespace sluice
