#include <charconv>
#include <utility>

#include "server/backups.h"
#include "server/services.h"

namespace sluice::server {

namespace {

Result<std::uint64_t> number_in(const Incoming& incoming, std::string_view name,
                                std::uint64_t otherwise) {
    const auto* text = incoming.query(name);
    if (text == nullptr) {
        return otherwise;
    }
    auto number = std::uint64_t{0};
    auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (text->empty() || error != std::errc{} || end != text->data() + text->size()) {
        return fail(Errc::InvalidInput, "{}={}: expected a number of bytes", name, *text);
    }
    return number;
}

Result<std::string> read_piece(const Backups& backups, const Incoming& incoming) {
    auto from = TRY(number_in(incoming, "from", 0));
    auto most = TRY(number_in(incoming, "most", Backups::piece_bytes_max));
    return backups.read(incoming.part("backup"), incoming.part("file"), from,
                        static_cast<std::size_t>(most));
}

void send_piece(const Backups& backups, const Incoming& incoming, const Reply& reply) {
    auto piece = read_piece(backups, incoming);
    if (!piece) {
        answer(reply, problem_of(piece.error()));
        return;
    }
    reply->answer({.status = 200,
                   .headers = {{"Content-Type", "application/octet-stream"}},
                   .body = *std::move(piece)});
}

} // namespace

void add_backup_routes(RouteTable& routes, const Services& services, Backups& backups) {
    auto policy = Policy{Role::Admin, false};
    auto work = [&services](Handle handle) { return on_worker(services, std::move(handle)); };
    routes.add({http::Method::Post, "/v1/backups", policy,
                work([&backups](const Incoming&, const Reply& reply) {
                    auto made = backups.make();
                    made ? answer(reply, 201, *made) : answer(reply, problem_of(made.error()));
                })});
    routes.add(
        {http::Method::Get, "/v1/backups", policy,
         work([&backups](const Incoming&, const Reply& reply) { answer(reply, backups.list()); })});
    routes.add({http::Method::Get, "/v1/backups/{backup}/files/{file}", policy,
                work([&backups](const Incoming& incoming, const Reply& reply) {
                    send_piece(backups, incoming, reply);
                })});
    routes.add({http::Method::Delete, "/v1/backups/{backup}", policy,
                work([&backups](const Incoming& incoming, const Reply& reply) {
                    auto removed = backups.remove(incoming.part("backup"));
                    removed ? answer(reply, 200, Value::object({{"removed", true}}))
                            : answer(reply, problem_of(removed.error()));
                })});
}

} // namespace sluice::server
