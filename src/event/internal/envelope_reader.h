#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "event/codec.h"
#include "event/event.h"
#include "event/internal/attribute.h"
#include "event/internal/scanner.h"
#include "event/internal/shape.h"

namespace sluice::event::internal {

/// Finds the parts of one event in its JSON text, once.
///
/// The views it hands out point into the text or into the reader: `own` moves them to where they
/// last.
class EnvelopeReader {
public:
    explicit EnvelopeReader(const Limits& limits);

    /// Every rule is checked. Fails with InvalidInput or LimitExceeded. The scanner stands behind
    /// the object afterwards.
    Result<void> read(Scanner& scanner);
    /// It is JSON and has what every event has; the rules are not checked again. Fails with
    /// Corrupt.
    Result<void> read_trusted(Scanner& scanner);
    /// What was read last.
    const Envelope& envelope() const { return envelope_; }
    /// The same under an owner that keeps all its views: the given one where that is enough, else
    /// a copy.
    const Envelope& own(std::shared_ptr<const void>& owner);

private:
    /// Members as they stood in events before: how many there were.
    Result<std::size_t> read_familiar(Scanner& scanner);
    Result<void> read_stretch(Scanner& scanner, const Shape::Stretch& stretch, const char* begin);
    Result<std::size_t> read_singly(Scanner& scanner, std::size_t member);
    void remember(bool is_familiar);
    Result<void> read_member(Scanner& scanner, const Scanner::String& name);
    Result<void> read_value(Scanner& scanner, Attribute attribute, std::string_view name);
    Result<void> note_attribute(Attribute attribute, std::string_view name);
    Result<void> read_text(Scanner& scanner, Attribute attribute, std::string_view name);
    Result<void> read_other(Scanner& scanner, Attribute attribute, std::string_view name);
    Result<void> read_data(Scanner& scanner);
    Result<void> read_base64(Scanner& scanner);
    Result<void> check_required() const;
    bool read_trusted_member(Scanner& scanner, const Scanner::String& name);
    void reset();
    std::string_view text_of(const Scanner::String& string);
    void keep(Attribute attribute, std::string_view text);
    bool has(Attribute attribute) const;
    bool has_extension(std::string_view name) const;

    Limits limits_;
    Shape shape_;
    std::size_t familiar_ = 0;  ///< Members of the shape that the event began with.
    std::size_t strangers_ = 0; ///< Events since the last that had the shape.
    std::size_t strangers_allowed_;
    Envelope envelope_;
    std::uint32_t seen_ = 0;    ///< A bit for each attribute whose name stood in the text.
    std::uint32_t present_ = 0; ///< Those that are not null.
    std::size_t attributes_ = 0;
    bool must_copy_ = false;
    std::vector<std::string_view> extensions_; ///< Without those of the shape.
    std::list<std::string> unescaped_;
};

} // namespace sluice::event::internal
