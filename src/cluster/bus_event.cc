#include "cluster/bus_event.h"

#include <fmt/format.h>

#include "cluster/carried_input.h"
#include "event/builder.h"
#include "value/json.h"

namespace sluice::cluster {

std::string to_bus_json(const engine::Input& input, const Seal& seal) {
    auto bytes = seal.put_on(encode_input(input));
    return std::string{
        event::Builder{"0", "/shards", message_type}.data(Value::bytes(bytes)).build().json()};
}

Result<engine::Input> read_message(const event::Event& event, const Seal& seal) {
    auto data = event.data();
    if (!data.is_bytes()) {
        return fail(Errc::InvalidInput, "a message between shards has its bytes in data_base64");
    }
    auto content = TRY(seal.take_off(data.as_bytes()));
    return decode_input(content, nullptr);
}

std::string to_bus_json(const event::Event& event, std::string_view space) {
    if (space == engine::RunName{}.space) {
        return std::string{event.json()};
    }
    auto json = fmt::format("{{\"{}\":", space_attribute);
    value::write_json_string(space, json);
    json += ',';
    json += event.json().substr(1);
    return json;
}

} // namespace sluice::cluster
