#include "connector/amqp/internal/setting.h"

#include <charconv>
#include <limits>
#include <string>

#include "value/time_text.h"

namespace sluice::connector::amqp::internal {

namespace {

using Setter = Result<void> (*)(Options&, std::string_view);

struct Setting {
    std::string_view name;
    unsigned uses = 0; ///< Those of Use that know it.
    Setter set = nullptr;
};

constexpr auto bus_use = static_cast<unsigned>(Use::Bus);
constexpr auto source_use = static_cast<unsigned>(Use::Source);
constexpr auto sink_use = static_cast<unsigned>(Use::Sink);
constexpr auto form_use = source_use | sink_use;
constexpr auto any_use = static_cast<unsigned>(Use::Connection) | bus_use | form_use;

template <typename Number>
Result<Number> read_count(std::string_view text, Number least,
                          Number most = std::numeric_limits<Number>::max()) {
    auto number = Number{0};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < least ||
        number > most) {
        return fail(Errc::InvalidInput, "expected a number from {} to {}", least, most);
    }
    return number;
}

Result<bool> read_bool(std::string_view text) {
    if (text != "true" && text != "false") {
        return fail(Errc::InvalidInput, "expected true or false");
    }
    return text == "true";
}

Result<Nanos> read_time(std::string_view text, Nanos least, Nanos most) {
    auto time = value::parse_duration(text);
    if (!time || *time < least || *time > most) {
        return fail(Errc::InvalidInput, "expected a time from {} to {}, such as 10s",
                    value::format_duration(least), value::format_duration(most));
    }
    return *time;
}

Result<std::string> read_name(std::string_view text) {
    for (auto letter : text) {
        if (static_cast<unsigned char>(letter) < 0x20) {
            return fail(Errc::InvalidInput, "expected no control characters");
        }
    }
    return std::string{text};
}

Result<std::string> read_needed(std::string_view text) {
    if (text.empty()) {
        return fail(Errc::InvalidInput, "expected a text that is not empty");
    }
    return read_name(text);
}

Result<QueueType> read_type(std::string_view text) {
    for (auto type : {QueueType::Stream, QueueType::Quorum, QueueType::Classic}) {
        if (text == to_string(type)) {
            return type;
        }
    }
    return fail(Errc::InvalidInput, "expected stream, quorum or classic");
}

/// A number and one of Y, M, D, h, m, s: RabbitMQ's way.
Result<std::string> read_age(std::string_view text) {
    auto digits = text.find_first_not_of("0123456789");
    auto is_age = digits != std::string_view::npos && digits > 0 && digits <= 9 &&
                  digits + 1 == text.size() &&
                  std::string_view{"YMDhms"}.find(text[digits]) != std::string_view::npos;
    if (!is_age) {
        return fail(Errc::InvalidInput, "expected a number with Y, M, D, h, m or s, such as 7D");
    }
    return std::string{text};
}

Result<Mode> read_mode(std::string_view text) {
    if (text != "structured" && text != "binary") {
        return fail(Errc::InvalidInput, "expected structured or binary");
    }
    return text == "binary" ? Mode::Binary : Mode::Structured;
}

template <auto member, auto read>
Result<void> assign(Options& options, std::string_view text) {
    options.*member = TRY(read(text));
    return {};
}

template <auto member, auto read>
Result<void> assign_tls(Options& options, std::string_view text) {
    options.tls.*member = TRY(read(text));
    return {};
}

template <auto member, auto read>
Result<void> assign_retention(Options& options, std::string_view text) {
    options.retention.*member = TRY(read(text));
    return {};
}

constexpr auto heartbeat_of = [](std::string_view text) {
    return read_time(text, std::chrono::seconds{1}, std::chrono::minutes{10});
};
constexpr auto timeout_of = [](std::string_view text) {
    return read_time(text, std::chrono::milliseconds{10}, std::chrono::minutes{1});
};
constexpr auto give_up_of = [](std::string_view text) {
    return read_time(text, std::chrono::milliseconds{100}, std::chrono::hours{1});
};
constexpr auto port_of = [](std::string_view text) { return read_count<std::uint16_t>(text, 0); };
constexpr auto prefetch_of = [](std::string_view text) {
    return read_count<std::uint16_t>(text, 1);
};
constexpr auto window_of = [](std::string_view text) {
    return read_count<std::uint32_t>(text, 1, 1'000'000);
};
constexpr auto size_of = [](std::string_view text) {
    return read_count<std::uint64_t>(text, 1, std::numeric_limits<std::int64_t>::max());
};

constexpr Setting settings[] = {
    {"heartbeat", any_use, assign<&Options::heartbeat, heartbeat_of>},
    {"timeout", any_use, assign<&Options::timeout, timeout_of>},
    {"stream_port", any_use, assign<&Options::stream_port, port_of>},
    {"ca", any_use, assign_tls<&Tls::ca_file, read_needed>},
    {"certificate", any_use, assign_tls<&Tls::certificate_file, read_needed>},
    {"key", any_use, assign_tls<&Tls::key_file, read_needed>},
    {"verify", any_use, assign_tls<&Tls::is_verified, read_bool>},
    {"user", form_use, assign<&Options::user, read_needed>},
    {"password", form_use, assign<&Options::password, read_name>},
    {"prefix", bus_use, assign<&Options::prefix, read_needed>},
    {"queue", bus_use, assign<&Options::type, read_type>},
    {"queue", source_use, assign<&Options::queue, read_needed>},
    {"type", source_use, assign<&Options::type, read_type>},
    {"declare", source_use, assign<&Options::is_declared, read_bool>},
    {"single_active", bus_use | source_use, assign<&Options::is_single_active, read_bool>},
    {"prefetch", bus_use | source_use, assign<&Options::prefetch, prefetch_of>},
    {"max_age", bus_use | source_use, assign_retention<&Retention::max_age, read_age>},
    {"max_bytes", bus_use | source_use, assign_retention<&Retention::max_bytes, size_of>},
    {"segment_bytes", bus_use | source_use, assign_retention<&Retention::segment_bytes, size_of>},
    {"exchange", form_use, assign<&Options::exchange, read_name>},
    {"routing_key", form_use, assign<&Options::routing_key, read_name>},
    {"mode", bus_use | sink_use, assign<&Options::mode, read_mode>},
    {"window", bus_use | sink_use, assign<&Options::window, window_of>},
    {"give_up", bus_use | sink_use, assign<&Options::give_up, give_up_of>},
};

} // namespace

Result<void> set(Options& options, Use use, std::string_view name, std::string_view text) {
    auto names = std::string{};
    for (const auto& setting : settings) {
        if ((setting.uses & static_cast<unsigned>(use)) == 0) {
            continue;
        }
        if (setting.name == name) {
            auto done = setting.set(options, text);
            return done ? Result<void>{}
                        : fail(done.error().code, "{}: {}", name, done.error().message);
        }
        names += names.empty() ? "" : ", ";
        names += setting.name;
    }
    return fail(Errc::InvalidInput, "{} is unknown here: write one of {}", name, names);
}

} // namespace sluice::connector::amqp::internal
