#include "connector/kafka/internal/fetcher.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <utility>

#include <poll.h>

namespace sluice::connector::kafka::internal {

using namespace std::chrono_literals;

namespace {

// A batch has up to a mebibyte, packed a quarter or an eighth of it: some at a time, since a
// request costs the broker about as much as what it sends, but not more than memory is worth.
constexpr auto limits =
    FetchLimits{.wait = 100ms, .bytes_max = 1024 * 1024, .partition_bytes_max = 512 * 1024};
constexpr auto connect_wait_max = Nanos{2s};
constexpr auto lookup_wait_min = Nanos{20ms};
constexpr auto lookup_wait_max = Nanos{1s};
constexpr auto pause_min = Nanos{50ms};
constexpr auto pause_max = Nanos{2s};

// What the library's reading is told by: whoever sets it is read for by the library.
constexpr auto reading_prefixes = std::to_array<std::string_view>(
    {"fetch.", "max.partition.", "queued.", "check.crcs", "client.rack", "socket.", "broker.",
     "receive.", "ssl.", "sasl.", "enable.ssl", "security.", "connections."});

bool is_about_reading(std::string_view property) {
    return std::ranges::any_of(
        reading_prefixes, [&](std::string_view prefix) { return property.starts_with(prefix); });
}

reactor::Tls tls_of(const Tls& tls) {
    using reactor::Encryption;
    if (!tls.is_on) {
        return {};
    }
    return {.encryption = tls.is_verified ? Encryption::Verified : Encryption::Unverified,
            .ca_file = tls.ca,
            .certificate_file = tls.certificate,
            .key_file = tls.key,
            .key_password = tls.key_password};
}

} // namespace

bool Fetcher::suits(const Options& options) {
    return options.reading == Reading::Direct && options.version == Version::Current &&
           options.user.empty() && options.mechanism == "PLAIN" &&
           std::ranges::none_of(options.settings,
                                [](const auto& each) { return is_about_reading(each.first); });
}

Fetcher::Fetcher(rd_kafka_t* client, const Options& options)
    : options_(options), leaders_(client) {}

void Fetcher::begin(const PartitionName& name, std::int64_t offset, std::uint64_t term) {
    end(name);
    readings_.push_back({.name = name, .offset = offset, .term = term});
    again_at_ = Nanos{0};
}

void Fetcher::end(const PartitionName& name) {
    std::erase_if(readings_, [&](const Read& each) { return each.name == name; });
}

Fetcher::Read* Fetcher::find(const PartitionName& name) {
    auto found = std::ranges::find(readings_, name, &Read::name);
    return found == readings_.end() ? nullptr : &*found;
}

/// Finds out who leads what, and connects.
void Fetcher::prepare(Nanos wait) {
    if (steady_now() < again_at_) {
        return;
    }
    auto found = find_leaders(std::clamp(wait, lookup_wait_min, lookup_wait_max));
    auto wanted = std::set<Broker>{};
    for (const auto& reading : readings_) {
        wanted.insert(leaders_.of(reading.name));
    }
    wanted.erase(Leaders::nobody);
    for (auto broker : wanted) {
        if (links_.contains(broker)) {
            continue;
        }
        if (auto connected = connect(broker); !connected) {
            found = std::move(connected);
        }
    }
    std::erase_if(links_, [&](const auto& each) {
        return !wanted.contains(each.first) && !each.second.link.is_awaiting();
    });
    if (found) {
        pause_ = Nanos{0};
        again_at_ = Nanos::max();
    } else {
        trouble_ = found.error().message;
        pause_ = std::clamp(2 * pause_, pause_min, pause_max);
        again_at_ = steady_now() + pause_;
    }
}

Result<void> Fetcher::find_leaders(Nanos wait) {
    auto found = Result<void>{};
    auto asked = std::set<std::string_view>{};
    for (auto& reading : readings_) {
        auto has_leader = [&] { return leaders_.of(reading.name) != Leaders::nobody; };
        if (!has_leader() && asked.insert(reading.name.topic).second) {
            if (auto told = leaders_.ask_for(reading.name.topic, wait); !told) {
                found = std::move(told);
            }
        }
        // Also where it was another one of the topic that was asked for.
        if (!has_leader() && found) {
            found = fail(Errc::Unavailable, "{} has no leader", reading.name.text());
        }
        if (reading.offset < 0) {
            if (auto offset = leaders_.resolve(reading.name, reading.offset, wait)) {
                reading.offset = *offset;
            } else {
                found = std::unexpected(offset.error());
            }
        }
    }
    return found;
}

Result<void> Fetcher::connect(Broker broker) {
    auto place = leaders_.place_of(broker);
    auto deadline = reactor::after(connect_wait_max);
    place.tls = tls_of(options_.tls);
    auto stream = reactor::ByteStream::connect(place, deadline);
    auto done = Result<void>{};
    if (!stream) {
        done = std::unexpected(stream.error());
    } else {
        auto link = BrokerLink{*std::move(stream)};
        done = greet(link);
        if (done) {
            links_.emplace(broker, Link{.link = std::move(link)});
            return {};
        }
    }
    is_unsupported_ |= done.error().code == Errc::Unsupported;
    lose(broker, done.error());
    return fail(Errc::Unavailable, "broker {}:{}: {}", place.host, place.port,
                done.error().message);
}

Result<void> Fetcher::greet(BrokerLink& link) const {
    link.send(versions_request(), {});
    TRY(link.finish(reactor::after(connect_wait_max)));
    if (!TRY(takes_our_fetch(link.answer()))) {
        return fail(Errc::Unsupported, "it does not know version 4 of Fetch");
    }
    return {};
}

void Fetcher::ask() {
    for (auto& [broker, link] : links_) {
        if (link.link.is_awaiting()) {
            continue;
        }
        link.asked.clear();
        for (auto at = std::size_t{0}; at < readings_.size(); ++at) {
            const auto& reading = readings_[(turn_ + at) % readings_.size()];
            if (reading.offset >= 0 && leaders_.of(reading.name) == broker) {
                link.asked.push_back(reading);
            }
        }
        ++turn_;
        if (link.asked.empty()) {
            continue;
        }
        auto wanted = std::vector<Wanted>{};
        for (const auto& each : link.asked) {
            wanted.push_back({.topic = each.name.topic,
                              .partition = each.name.partition,
                              .offset = each.offset});
        }
        link.link.send(fetch_request(wanted, limits), buffers_.take());
    }
}

Result<std::vector<Fetcher::Delivery>> Fetcher::poll(Ask what, Nanos wait, int wake) {
    auto deliveries = std::vector<Delivery>{};
    prepare(wait);
    if (is_unsupported_) {
        return fail(Errc::Unsupported, "{}", trouble_);
    }
    if (what == Ask::More) {
        ask();
    }
    wait_for_answers(std::min(wait, std::max(again_at_ - steady_now(), Nanos{0})), wake);
    take_answers(deliveries);
    return deliveries;
}

void Fetcher::take_answers(std::vector<Delivery>& deliveries) {
    auto lost = std::vector<std::pair<Broker, Error>>{};
    for (auto& [broker, link] : links_) {
        if (!link.link.is_awaiting()) {
            continue;
        }
        auto is_there = link.link.advance();
        auto taken = is_there ? Result<void>{} : std::unexpected(is_there.error());
        if (is_there && *is_there) {
            taken = take_answer(link, deliveries);
        }
        if (!taken) {
            is_unsupported_ |= taken.error().code == Errc::Unsupported;
            lost.emplace_back(broker, taken.error());
        }
    }
    for (const auto& [broker, why] : lost) {
        lose(broker, why);
    }
}

void Fetcher::wait_for_answers(Nanos wait, int wake) {
    auto entries = std::vector<pollfd>{{.fd = wake, .events = POLLIN, .revents = 0}};
    for (const auto& [broker, link] : links_) {
        if (link.link.is_awaiting()) {
            entries.push_back(link.link.poll_entry());
        }
    }
    ::poll(entries.data(), entries.size(), to_milliseconds(wait));
}

Result<void> Fetcher::take_answer(Link& link, std::vector<Delivery>& deliveries) {
    auto size = link.link.answer().size();
    auto answer = buffers_.lend(link.link.take_buffer());
    auto parts = TRY(read_fetch_answer(std::string_view{*answer}.substr(0, size)));
    for (const auto& fetched : parts) {
        auto asked = std::ranges::find_if(link.asked, [&](const Read& each) {
            return each.name.topic == fetched.topic && each.name.partition == fetched.partition;
        });
        if (asked != link.asked.end()) {
            TRY(take(*asked, fetched, answer, deliveries));
        }
    }
    return {};
}

Result<void> Fetcher::take(const Read& asked, const Fetched& fetched,
                           const std::shared_ptr<const std::string>& answer,
                           std::vector<Delivery>& deliveries) {
    auto* reading = find(asked.name);
    if (reading == nullptr || reading->term != asked.term) {
        return {}; // It was left meanwhile.
    }
    auto code = static_cast<rd_kafka_resp_err_t>(fetched.error);
    if (code == RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE) {
        // Of a topic that is set to zstd, to requests of versions from before that was there.
        return fail(Errc::Unsupported, "{}: {}", asked.name.text(), rd_kafka_err2str(code));
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        trouble_ = fmt::format("{}: {}", asked.name.text(), rd_kafka_err2str(code));
        leaders_.forget(asked.name);
        again_at_ = std::min(again_at_, steady_now() + pause_min);
    } else {
        if (again_at_ == Nanos::max()) {
            trouble_.clear(); // Of none of the others either.
        }
        reading->offset = offset_behind(fetched.batches, asked.offset);
        if (!fetched.batches.empty() && reading->offset == asked.offset) {
            return fail(Errc::Unsupported,
                        "{} has a batch at offset {} that is of an older format, or does not come "
                        "whole",
                        asked.name.text(), asked.offset);
        }
    }
    deliveries.push_back({.name = asked.name,
                          .term = asked.term,
                          .error = fetched.error,
                          .from = asked.offset,
                          .next = reading->offset,
                          .end = fetched.end,
                          .records = FetchedRecords{answer, fetched, asked.offset, buffers_}});
    return {};
}

void Fetcher::lose(Broker broker, const Error& why) {
    auto place = leaders_.place_of(broker);
    trouble_ = fmt::format("broker {}:{}: {}", place.host, place.port, why.message);
    links_.erase(broker);
    for (const auto& reading : readings_) {
        if (leaders_.of(reading.name) == broker) {
            leaders_.forget(reading.name);
        }
    }
    again_at_ = std::min(again_at_, steady_now() + pause_min);
}

} // namespace sluice::connector::kafka::internal
