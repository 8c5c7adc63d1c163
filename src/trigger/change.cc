#include "trigger/change.h"

#include <array>
#include <type_traits>
#include <utility>

#include "value/archive.h"

namespace sluice::trigger {

namespace {

constexpr auto names =
    std::to_array<std::string_view>({"activated",     "fired",          "faulted",
                                     "switched",      "remembered",     "overridden",
                                     "context set",   "scope opened",   "scope closed",
                                     "variables set", "task opened",    "task closed",
                                     "task retried",  "timer set",      "timer removed",
                                     "event kept",    "event released", "emitted",
                                     "sent",          "continued",      "advanced",
                                     "hold set",      "cancelling",     "ended",
                                     "replied",       "began",          "forked",
                                     "renewing",      "renewed",        "reopened",
                                     "swept",         "collected",      "collection dropped",
                                     "place set",     "adopted"});
static_assert(names.size() == std::variant_size_v<Change>);

template <std::size_t at = 0>
Result<Change> decode_at(std::size_t kind, Decoder& in) {
    if constexpr (at < std::variant_size_v<Change>) {
        if (kind == at) {
            return Change{TRY(value::decode_fields<std::variant_alternative_t<at, Change>>(in))};
        }
        return decode_at<at + 1>(kind, in);
    } else {
        return fail(Errc::Corrupt, "change of kind {}: this program knows {}", kind, names.size());
    }
}

} // namespace

std::string_view name_of(const Change& change) {
    return names.at(change.index());
}

Value to_value(const Change& change) {
    auto fields = std::visit([](const auto& one) { return value::ArchiveView::view(one); }, change);
    auto members = std::vector<value::Member>{{"change", name_of(change)}};
    for (const auto& member : fields.as_map()) {
        members.push_back(member);
    }
    return Value::map(std::move(members));
}

void encode(const Change& change, Encoder& out) {
    out.varint(change.index());
    std::visit([&](const auto& one) { value::encode_fields(one, out); }, change);
}

void encode(const Activated& change, Encoder& out) {
    static_assert(std::is_same_v<std::variant_alternative_t<0, Change>, Activated>);
    if (change.seen) {
        out.varint(0);
        value::encode_fields(change, out);
        return;
    }
    // The same at once: most of what histories hold.
    char bytes[2 + 3 * varint_bytes_max];
    bytes[0] = 0;
    auto* end = write_varint(bytes + 1, change.scope.raw());
    end = write_varint(end, change.trigger.raw());
    end = write_varint(end, change.progress);
    *end++ = 0;
    out.raw({bytes, static_cast<std::size_t>(end - bytes)});
}

Result<Change> decode_change(Decoder& in) {
    auto kind = TRY(in.varint());
    return decode_at(kind, in);
}

} // namespace sluice::trigger
