#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "event/packed_text.h"
#include "trigger/arrival.h"
#include "trigger/change.h"

namespace sluice::trigger {

/// Raised whenever the same events may be decided otherwise than by the software before. History
/// carries it, so that replay can tell a change from damage.
inline constexpr auto software_number = std::uint64_t{6};

/// What became of an event.
enum class Fate : std::uint8_t {
    Activated, ///< Met triggers that wait for more.
    Fired,
    Parked,    ///< Waits: its triggers are disabled, or its scope is held.
    Kept,      ///< Waits: no trigger matched yet.
    Unmatched, ///< Matched nothing and was let go.
    Duplicate,
    Late,      ///< Its trigger, scope, attempt or run is no longer there.
    Failed,    ///< A condition or action failed on it; the changes say why.
    Retried,   ///< A failed attempt that another follows.
    Refused,   ///< The run keeps as many events as it may.
    Handled,   ///< A command, carried out.
    Busy,      ///< The run keeps as many events as it may and asks to be sent this one again later.
    NoSuchRun, ///< Nothing was there to take it: in no run's history.
    Sent,      ///< On its way by a bus to the process that decides it: in no run's history.
};
std::string_view to_string(Fate fate);

/// Hears what a language has to tell of its decisions beyond the changes that are recorded, such as
/// the execution history of a state machine. Nobody listens in normal running: a run's history is
/// decided again for it.
class Listener {
public:
    virtual ~Listener() = default;
    virtual void hear(const Moment& moment, const Value& told) = 0;
    /// Whether it wants to hear all of a part that the language gives a name of its own, such as a
    /// child of a map. There may be millions.
    virtual bool cares_for(std::string_view /*part*/) const { return false; }
};

/// One event of a run's history, with what deciding it did.
struct Entry {
    EventNumber number;
    Origin origin = Origin::Outside;
    Fate fate = Fate::Activated;
    std::array<std::uint64_t, 4> refs{};
    Moment moment;
    std::string json;
    std::vector<Change> changes;
    std::uint64_t software = software_number; ///< That decided it.
};

/// Collects what one batch did to a run: the bytes of its history record, and the changes that
/// reach beyond the run.
///
/// The bytes are written as the decision is made, so a change is encoded once and never held.
class Journal {
public:
    using Texts = std::vector<std::shared_ptr<const event::PackedText>>;

    /// An entry whose JSON lies in this text tells only where, until another is lent or the journal
    /// is cleared. What lies in it is begun in the order in which it lies there.
    void lend(const std::shared_ptr<const event::PackedText>& text) {
        if (lent_ != text) { // Asked for each event: copying would count owners each time.
            lent_ = text;
        }
    }
    void begin(EventNumber number, const Arrival& arrival, std::string_view json);
    void add(const Change& change);
    void add(const Activated& change);
    void end(Fate fate);

    /// The record of all since `clear`: docs/formats/history.md. Good until the next entry.
    std::string_view record(Moment moment);
    /// The record with the texts that it lies in: can be read by itself.
    std::string with_texts(std::string_view record) const;
    void clear();
    /// The bytes that the last record lies in, which stays where it is; it goes on with these.
    std::string exchange_bytes(std::string room);
    /// In which entries of the record lie: it can be stored and read with these alone.
    const Texts& texts() const { return texts_; }
    /// As `clear`; of its memory no more stays than a run that begins needs.
    void release_room();

    bool is_empty() const { return entries_ == 0; }
    std::uint64_t entries() const { return entries_; }
    std::size_t bytes() const { return body_.size() + told_bytes_; }

    /// Of the changes since `clear`, those that someone else must act on, in order.
    std::vector<Change> effects;

private:
    std::optional<std::size_t> place_of(std::string_view json);

    std::string body_; ///< Room for the head, then the entries.
    std::string changes_;
    std::uint64_t entries_ = 0;
    std::shared_ptr<const event::PackedText> lent_;
    Texts texts_;                ///< Those lent that an entry lies in.
    std::size_t told_ = 0;       ///< How far entries reach in the last of them.
    std::size_t told_bytes_ = 0; ///< That lie in texts.
};

/// Makes records smaller for the store: docs/formats/history.md.
///
/// Events of a batch are alike, so that a record of many shrinks to a fraction; it would otherwise
/// be copied, checked and written several times over. One of few events stays as it is.
class RecordPacker {
public:
    /// With the texts that it lies in. Good until the next call, and as long as the record is.
    std::string_view pack(std::string_view record, const Journal::Texts& texts = {});

private:
    std::string room_;
    std::string with_texts_;
};

/// All entries of a record, packed or not, or its last ones only. Fails with Corrupt.
Result<std::vector<Entry>> decode_record(std::string_view record,
                                         std::uint64_t most = ~std::uint64_t{0});

/// The same events decided again must give these bytes: what replay compares.
std::string encode_changes(const std::vector<Change>& changes);

} // namespace sluice::trigger
