#include "connector/amqp/options.h"

#include <array>

#include <fmt/format.h>

#include "connector/amqp/internal/setting.h"
#include "connector/amqp/internal/url.h"
#include "value/json.h"

namespace sluice::connector::amqp {

namespace {

using internal::Use;

constexpr auto default_port = std::uint16_t{5672};
constexpr auto default_port_tls = std::uint16_t{5671};
constexpr auto default_stream_port = std::uint16_t{5552};
constexpr auto default_stream_port_tls = std::uint16_t{5551};
// Names of queues and routing keys are short strings of AMQP.
constexpr auto name_bytes_max = std::size_t{255};
constexpr auto prefix_bytes_max = std::size_t{240};

Result<Options> read_place(const internal::Url& url) {
    auto options = Options{};
    if (url.scheme != "amqp" && url.scheme != "amqps") {
        return fail(Errc::InvalidInput, "expected a URL that begins with amqp:// or amqps://");
    }
    options.tls.is_on = url.scheme == "amqps";
    if (url.host.empty()) {
        return fail(Errc::InvalidInput, "the URL names no host: write amqp://HOST:PORT/VHOST");
    }
    options.host = url.host;
    options.port = url.port.value_or(options.tls.is_on ? default_port_tls : default_port);
    if (url.has_user) {
        options.user = url.user;
        options.password = url.password;
    }
    if (!url.path.empty()) {
        options.vhost = url.path;
    }
    return options;
}

Result<Options> read_url(std::string_view text, Use use) {
    auto url = TRY(internal::parse_url(text));
    auto options = TRY(read_place(url));
    for (const auto& [name, value] : url.query) {
        TRY(internal::set(options, use, name, value));
    }
    return options;
}

Result<void> check_tls(const Tls& tls) {
    if (!tls.is_on && tls != Tls{}) {
        return fail(Errc::InvalidInput,
                    "ca, certificate, key and verify are for amqps://, which this is not");
    }
    if (tls.certificate_file.empty() != tls.key_file.empty()) {
        return fail(Errc::InvalidInput, "write both certificate and key, or neither");
    }
    return {};
}

Result<void> check_queue(const Options& options) {
    auto is_stream = options.type == QueueType::Stream;
    if (options.is_single_active && is_stream) {
        return fail(Errc::InvalidInput,
                    "single_active is for quorum and classic queues: a stream has none");
    }
    if (options.retention != Retention{} && !is_stream) {
        return fail(Errc::InvalidInput,
                    "max_age, max_bytes and segment_bytes are for streams: a {} queue would drop "
                    "what nobody has read",
                    to_string(options.type));
    }
    if (options.prefix.size() > prefix_bytes_max) {
        return fail(Errc::InvalidInput, "the prefix has {} bytes: at most {} are possible",
                    options.prefix.size(), prefix_bytes_max);
    }
    for (const auto* name : {&options.queue, &options.exchange, &options.routing_key}) {
        if (name->size() > name_bytes_max) {
            return fail(Errc::InvalidInput,
                        "a queue, exchange or routing key has {} bytes: at most {} are possible",
                        name->size(), name_bytes_max);
        }
    }
    return {};
}

Result<Options> read_form(const Value& form, Use use) {
    if (!form.is_map()) {
        return fail(Errc::InvalidInput, "expected a map with url and other members");
    }
    const auto* url = form.find("url");
    if (url == nullptr || !url->is_string()) {
        return fail(Errc::InvalidInput, "url is missing: write amqp://HOST:PORT/VHOST");
    }
    auto options = TRY(read_url(url->as_string(), Use::Connection));
    options.type = QueueType::Quorum;
    for (const auto& [name, value] : form.as_map()) {
        if (name == "url" || value.is_null()) {
            continue;
        }
        if (!value.is_string() && !value.is_bool() && !value.is_number()) {
            return fail(Errc::InvalidInput, "{}: expected a text, a number, true or false", name);
        }
        auto text = value.is_string() ? std::string{value.as_string()} : value::to_json(value);
        TRY(internal::set(options, use, name, text));
    }
    TRY(check_tls(options.tls));
    TRY(check_queue(options));
    return options;
}

} // namespace

std::string_view to_string(QueueType type) {
    constexpr auto names = std::array<std::string_view, 3>{"stream", "quorum", "classic"};
    return names[static_cast<std::size_t>(type)];
}

std::uint16_t Options::effective_prefetch() const {
    // What is acknowledged after its commit comes back later than a stream's credit.
    auto usual = type == QueueType::Stream ? std::uint16_t{2000} : std::uint16_t{5000};
    return prefetch == 0 ? usual : prefetch;
}

std::uint16_t Options::effective_stream_port() const {
    return stream_port.value_or(tls.is_on ? default_stream_port_tls : default_stream_port);
}

std::string Options::place() const {
    return fmt::format("{}://{}:{}", tls.is_on ? "amqps" : "amqp", host, port);
}

Result<Options> parse_url(std::string_view url) {
    auto options = TRY(read_url(url, Use::Bus));
    TRY(check_tls(options.tls));
    TRY(check_queue(options));
    return options;
}

Result<Options> read_source_form(const Value& form) {
    auto options = TRY(read_form(form, Use::Source));
    if (options.queue.empty()) {
        return fail(Errc::InvalidInput, "queue is missing: write the name of the queue to read");
    }
    if (!options.is_declared && (!options.exchange.empty() || !options.routing_key.empty() ||
                                 options.is_single_active || options.retention != Retention{})) {
        return fail(Errc::InvalidInput,
                    "exchange, routing_key, single_active, max_age, max_bytes and segment_bytes "
                    "say how a queue is made: write declare: true beside them");
    }
    if (options.exchange.empty() && !options.routing_key.empty()) {
        return fail(Errc::InvalidInput,
                    "exchange is missing: write the one that routing_key binds the queue to");
    }
    return options;
}

Result<Options> read_sink_form(const Value& form) {
    auto options = TRY(read_form(form, Use::Sink));
    if (options.exchange.empty() && options.routing_key.empty()) {
        return fail(Errc::InvalidInput,
                    "write exchange, or routing_key with the name of a queue, or both");
    }
    return options;
}

} // namespace sluice::connector::amqp
