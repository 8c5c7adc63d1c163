#include "engine/quarantine.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/utf8.h"
#include "engine/keys.h"
#include "event/builder.h"
#include "value/archive.h"
#include "value/json.h"

namespace sluice::engine {

namespace {

constexpr auto quarantine_format = std::uint8_t{1};

} // namespace

std::string encode_quarantined(const QuarantinedEvent& event) {
    auto record = std::string{};
    auto out = Encoder{record};
    out.u8(quarantine_format);
    value::encode_fields(event, out);
    return record;
}

event::Event malformed_event(std::string_view partition, std::uint64_t number,
                             std::string_view reason, std::string_view message) {
    auto text = is_utf8(message) ? Value{message} : Value::bytes(message);
    return event::Builder{std::to_string(number), partition, malformed_type}
        .data(Value::object({{"reason", reason}, {"message", std::move(text)}}))
        .build();
}

std::string reason_of(const QuarantinedEvent& event) {
    auto form = value::parse_json(event.json);
    const auto* type = form ? form->find("type") : nullptr;
    if (type != nullptr && *type == Value{malformed_type}) {
        return std::string{form->find("data")->find("reason")->as_string()};
    }
    return fmt::format("there is no run \"{}\"", event.run);
}

Result<std::vector<QuarantinedEvent>> read_quarantine(const store::Store& store, std::size_t most) {
    auto events = std::vector<QuarantinedEvent>{};
    for (auto shard = std::uint16_t{0}; shard < store.shard_count(); ++shard) {
        auto prefix = keys::table(ShardId{shard}, 'Q');
        auto cursor = store.scan(prefix, keys::end_of(prefix));
        for (auto count = std::size_t{0}; cursor->is_valid() && count < most;
             cursor->next(), ++count) {
            auto in = Decoder{cursor->value()};
            TRY(in.format(quarantine_format, "quarantined event"));
            events.push_back(TRY(value::decode_fields<QuarantinedEvent>(in)));
        }
        TRY(cursor->status());
    }
    std::ranges::stable_sort(events, {}, &QuarantinedEvent::since);
    events.resize(std::min(events.size(), most));
    return events;
}

} // namespace sluice::engine
