#include "trigger/history.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/invariant.h"
#include "trigger/internal/packed_record.h"
#include "value/archive.h"

namespace sluice::trigger {

namespace {

constexpr auto record_format = std::uint8_t{3};
constexpr auto room_bytes_kept = std::size_t{4 * 1024};
constexpr auto room_effects_kept = std::size_t{8};
// No event is as short: in place of its size it says that the event lies in a text of the record.
constexpr auto told_mark = std::uint64_t{1};
constexpr auto head_bytes_max = std::size_t{48}; ///< Format, and four numbers of at most ten bytes.
// Its number, origin, four references, the mark, where its text lies and how long it is.
constexpr auto entry_head_bytes_max = 1 + 8 * varint_bytes_max;
// Changes of so many bytes have a size of one byte.
constexpr auto tail_bytes_max = std::size_t{48};
// Entries of this kind carry refs; those from outside have none to carry.
bool has_refs(Origin origin) {
    return origin != Origin::Outside && origin != Origin::Command && origin != Origin::Sweep;
}

/// Where entries told by their places lie: all texts of a record, one behind the other.
class Places {
public:
    explicit Places(std::string_view text) : text_(text) {}

    /// The JSON of the next entry.
    Result<std::string_view> take(Decoder& in) {
        auto size = TRY(in.varint());
        if (size != told_mark || text_.empty()) {
            return in.raw(size);
        }
        auto gap = TRY(in.varint());
        auto bytes = TRY(in.varint());
        if (gap > text_.size() - at_ || bytes > text_.size() - at_ - gap) {
            return fail(Errc::Corrupt, "an event of {} bytes lies {} bytes behind byte {} of {}",
                        bytes, gap, at_, text_.size());
        }
        at_ += gap + bytes;
        return text_.substr(at_ - bytes, bytes);
    }

private:
    std::string_view text_;
    std::size_t at_ = 0;
};

Result<Entry> decode_entry(Decoder& in, Places& places, Moment moment) {
    auto entry = Entry{.moment = moment};
    entry.number = EventNumber{TRY(in.varint())};
    auto origin = TRY(in.u8());
    if (origin > static_cast<std::uint8_t>(Origin::Returned)) {
        return fail(Errc::Corrupt, "event {} has the unknown origin {}", entry.number.raw(),
                    origin);
    }
    entry.origin = static_cast<Origin>(origin);
    if (has_refs(entry.origin)) {
        for (auto& ref : entry.refs) {
            ref = TRY(in.varint());
        }
    }
    entry.json = std::string{TRY(places.take(in))};
    auto changes = Decoder{TRY(in.text())};
    while (!changes.is_at_end()) {
        entry.changes.push_back(TRY(decode_change(changes)));
    }
    auto fate = TRY(in.u8());
    if (fate > static_cast<std::uint8_t>(Fate::Busy)) {
        return fail(Errc::Corrupt, "event {} has the unknown fate {}", entry.number.raw(), fate);
    }
    entry.fate = static_cast<Fate>(fate);
    return entry;
}

/// Passes over an entry without reading what it holds.
Result<void> skip_entry(Decoder& in, Places& places) {
    static_cast<void>(TRY(in.varint()));
    if (has_refs(static_cast<Origin>(TRY(in.u8())))) {
        for (auto at = 0; at < 4; ++at) {
            static_cast<void>(TRY(in.varint()));
        }
    }
    static_cast<void>(TRY(places.take(in)));
    static_cast<void>(TRY(in.text()));
    static_cast<void>(TRY(in.u8()));
    return {};
}

} // namespace

std::string_view to_string(Fate fate) {
    switch (fate) {
        case Fate::Activated: return "activated";
        case Fate::Fired: return "fired";
        case Fate::Parked: return "parked";
        case Fate::Kept: return "kept";
        case Fate::Unmatched: return "unmatched";
        case Fate::Duplicate: return "duplicate";
        case Fate::Late: return "late";
        case Fate::Failed: return "failed";
        case Fate::Retried: return "retried";
        case Fate::Refused: return "refused";
        case Fate::Busy: return "busy";
        case Fate::NoSuchRun: return "no such run";
        case Fate::Handled: return "handled";
        case Fate::Sent: return "sent";
    }
    return "unknown";
}

void Journal::begin(EventNumber number, const Arrival& arrival, std::string_view json) {
    if (body_.empty()) {
        body_.assign(head_bytes_max, '\0');
    }
    // Of an entry that tells only where its text lies this is most of it: appended at once.
    char head[entry_head_bytes_max];
    auto* end = write_varint(head, number.raw());
    *end++ = static_cast<char>(arrival.origin);
    if (has_refs(arrival.origin)) {
        for (auto ref : arrival.refs) {
            end = write_varint(end, ref);
        }
    }
    auto place = place_of(json);
    if (place) {
        end = write_varint(end, told_mark);
        end = write_varint(end, *place);
    } else {
        INVARIANT(json.size() != told_mark, "an event is an object");
    }
    end = write_varint(end, json.size());
    body_.append(head, static_cast<std::size_t>(end - head));
    if (!place) {
        body_.append(json);
    }
    changes_.clear();
    ++entries_;
}

/// How far behind the entry before in what was lent; nothing when it does not lie there.
std::optional<std::size_t> Journal::place_of(std::string_view json) {
    if (!lent_ || std::less<>{}(json.data(), lent_->bytes->data())) {
        return std::nullopt;
    }
    auto begin = static_cast<std::size_t>(json.data() - lent_->bytes->data());
    auto is_new = texts_.empty() || texts_.back() != lent_;
    auto told = is_new ? 0 : told_;
    if (begin < told || begin + json.size() > lent_->size) {
        return std::nullopt;
    }
    auto gap = begin - told;
    if (is_new) {
        gap += texts_.empty() ? 0 : texts_.back()->size - told_;
        texts_.push_back(lent_);
    }
    told_ = begin + json.size();
    told_bytes_ += json.size();
    return gap;
}

void Journal::add(const Change& change) {
    auto out = Encoder{changes_};
    encode(change, out);
}

void Journal::add(const Activated& change) {
    auto out = Encoder{changes_};
    encode(change, out);
}

void Journal::end(Fate fate) {
    if (changes_.size() <= tail_bytes_max) {
        // Of most entries: appended at once.
        char tail[tail_bytes_max + 2];
        tail[0] = static_cast<char>(changes_.size());
        auto* end = std::ranges::copy(changes_, tail + 1).out;
        *end++ = static_cast<char>(fate);
        body_.append(tail, static_cast<std::size_t>(end - tail));
        return;
    }
    auto out = Encoder{body_};
    out.text(changes_);
    out.u8(static_cast<std::uint8_t>(fate));
}

std::string_view Journal::record(Moment moment) {
    auto head = std::string{};
    auto out = Encoder{head};
    out.u8(record_format);
    out.varint(software_number);
    out.svarint(moment.time.time_since_epoch().count());
    out.svarint(moment.steady.time_since_epoch().count());
    out.varint(entries_);
    // Into the room before the entries, which are too many bytes to be copied.
    body_.resize(std::max(body_.size(), head_bytes_max));
    auto begin = head_bytes_max - head.size();
    body_.replace(begin, head.size(), head);
    return std::string_view{body_}.substr(begin);
}

void Journal::release_room() {
    clear();
    if (body_.capacity() + changes_.capacity() > room_bytes_kept ||
        effects.capacity() > room_effects_kept) {
        *this = {};
    }
}

void Journal::clear() {
    body_.clear();
    changes_.clear();
    entries_ = 0;
    lent_.reset();
    texts_.clear();
    told_bytes_ = 0;
    effects.clear();
}

std::string Journal::exchange_bytes(std::string room) {
    room.clear();
    return std::exchange(body_, std::move(room));
}

std::string Journal::with_texts(std::string_view record) const {
    auto whole = std::string{};
    internal::put_texts(texts_, whole);
    return whole += record;
}

std::string_view RecordPacker::pack(std::string_view record, const Journal::Texts& texts) {
    auto packed = internal::pack(record, room_);
    if (texts.empty()) {
        return packed;
    }
    with_texts_.clear();
    internal::put_texts(texts, with_texts_);
    return with_texts_ += packed;
}

Result<std::vector<Entry>> decode_record(std::string_view record, std::uint64_t most) {
    auto text = TRY(internal::take_texts(record));
    auto unpacked = std::string{};
    if (internal::is_packed(record)) {
        unpacked = TRY(internal::unpack(record));
        record = unpacked;
    }
    auto in = Decoder{record};
    auto format = TRY(in.u8());
    if (format != record_format) {
        return fail(Errc::Unsupported, "history record of format {}: this program reads {}", format,
                    record_format);
    }
    auto software = TRY(in.varint());
    auto moment = Moment{};
    moment.time = Time{Nanos{TRY(in.svarint())}};
    moment.steady = Time{Nanos{TRY(in.svarint())}};
    auto count = TRY(in.varint());
    auto entries = std::vector<Entry>{};
    auto places = Places{text};
    for (auto at = std::uint64_t{0}; at < count; ++at) {
        if (count - at > most) {
            TRY(skip_entry(in, places));
            continue;
        }
        entries.push_back(TRY(decode_entry(in, places, moment)));
        entries.back().software = software;
    }
    if (!in.is_at_end()) {
        return fail(Errc::Corrupt, "{} bytes behind the last event of a history record",
                    in.rest().size());
    }
    return entries;
}

std::string encode_changes(const std::vector<Change>& changes) {
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    for (const auto& change : changes) {
        encode(change, out);
    }
    return bytes;
}

} // namespace sluice::trigger
