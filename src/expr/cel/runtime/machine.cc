#include "expr/cel/runtime/machine.h"

#include <algorithm>
#include <cstring>

namespace sluice::expr::cel::runtime {

std::string_view Machine::copy(std::string_view text, bool& is_done) {
    auto room = arena_.make<char>(text.size());
    is_done = room.size() == text.size();
    std::ranges::copy(text.substr(0, room.size()), room.begin());
    return {room.data(), room.size()};
}

Cell Machine::text(std::string_view text) {
    auto is_done = false;
    auto copied = copy(text, is_done);
    return is_done ? Cell::string(copied) : budget_fault();
}

Cell Machine::bytes(std::string_view bytes) {
    auto is_done = false;
    auto copied = copy(bytes, is_done);
    return is_done ? Cell::bytes(copied) : budget_fault();
}

Cell Machine::list(std::span<const Cell> items) {
    auto room = arena_.make<Cell>(items.size());
    if (room.size() != items.size()) {
        return budget_fault();
    }
    std::ranges::copy(items, room.begin());
    return Cell::list(room);
}

Cell Machine::some(const Cell& held) {
    auto room = arena_.make<Cell>(1);
    if (room.empty()) {
        return budget_fault();
    }
    room[0] = held;
    return Cell::optional(room.data());
}

Cell Machine::network(Kind kind, const Interval& interval) {
    auto room = arena_.make<Interval>(1);
    if (room.empty()) {
        return budget_fault();
    }
    room[0] = interval;
    return Cell::network(kind, room[0]);
}

bool Machine::affords_text(std::size_t bytes) {
    if (bytes > meter_.text_bytes_max() || !meter_.spend_text(bytes)) {
        meter_.exhaust();
        return false;
    }
    return true;
}

Cell Machine::make_fault(std::string_view code, std::string_view message) {
    auto is_done = false;
    auto copied = copy(message, is_done);
    auto note = arena_.make<FaultNote>(1);
    if (!is_done || note.empty()) {
        return budget_fault();
    }
    note[0] = {.code = code, .message = copied};
    return Cell::fault(note[0]);
}

Cell Machine::budget_fault() {
    meter_.exhaust();
    return Cell::fault(budget_note_);
}

Cell Machine::no_overload(std::string_view function, std::span<const Cell> arguments) {
    auto kinds = std::string{};
    for (const auto& argument : arguments) {
        kinds += kinds.empty() ? "" : ", ";
        kinds += name_of(argument.kind());
    }
    return fault("no_such_overload", "there is no {}({})", function, kinds);
}

bool ListBuilder::add(const Cell& item) {
    if (size_ == room_.size()) {
        auto room = machine_.arena().make<Cell>(std::max<std::size_t>(8, size_ * 2));
        if (room.empty()) {
            machine_.meter().exhaust();
            return false;
        }
        std::ranges::copy(room_, room.begin());
        room_ = room;
    }
    room_[size_++] = item;
    return true;
}

bool MapBuilder::grow() {
    constexpr auto linear_entries_max = std::size_t{8};
    auto count = std::max(linear_entries_max, entries_.size() * 2);
    auto room = machine_.arena().make<Entry>(count);
    if (room.empty()) {
        machine_.meter().exhaust();
        return false;
    }
    std::ranges::copy(entries_, room.begin());
    room_ = room;
    entries_ = room.first(entries_.size());
    if (count == linear_entries_max) {
        return true;
    }
    slots_ = machine_.arena().make<std::uint32_t>(count * 2);
    if (slots_.empty()) {
        machine_.meter().exhaust();
        return false;
    }
    for (auto place = std::size_t{0}; place < entries_.size(); ++place) {
        link(place);
    }
    return true;
}

void MapBuilder::link(std::size_t place) {
    if (slots_.empty()) {
        return;
    }
    auto at = hash_key(entries_[place].key);
    while (slots_[at & (slots_.size() - 1)] != 0) {
        ++at;
    }
    slots_[at & (slots_.size() - 1)] = static_cast<std::uint32_t>(place + 1);
}

MapBuilder::Added MapBuilder::add(const Cell& key, const Cell& value) {
    if (MapTable{entries_, slots_}.find(key) != nullptr) {
        return Added::Repeated;
    }
    if (entries_.size() == room_.size() && !grow()) {
        return Added::TooMany;
    }
    entries_ = room_.first(entries_.size() + 1);
    entries_.back() = {key, value};
    link(entries_.size() - 1);
    return Added::New;
}

Cell MapBuilder::finish() {
    auto table = machine_.arena().make<MapTable>(1);
    if (table.empty()) {
        return machine_.budget_fault();
    }
    table[0] = {entries_, slots_};
    return Cell::map(table[0]);
}

} // namespace sluice::expr::cel::runtime
