#include "store/redis/internal/round.h"

#include <algorithm>

namespace sluice::store::redis::internal {
namespace {

/// What is final counts before what passes; that nothing was written can only be said of all.
int rank(const Error& error) {
    if (error.code == Errc::NoSpace) {
        return 0;
    }
    return Pool::is_passing(error) ? 1 : 2;
}

} // namespace

Result<void> Round::run() {
    for (auto& call : calls_) {
        if (!call.is_done) {
            write(call);
        }
    }
    for (auto& [place, errand] : errands_) {
        if (errand.connection) {
            // What fails here fails in hearing as well.
            std::ignore = errand.connection->client().send();
        }
    }
    for (auto& [place, errand] : errands_) {
        if (errand.connection) {
            hear(place, errand);
        }
    }
    if (!error_) {
        return {};
    }
    auto may_be_done = [](const Call& call) { return call.is_done || call.times_sent > 1; };
    if (error_->code == Errc::NoSpace && std::ranges::any_of(calls_, may_be_done)) {
        error_->code = Errc::Unavailable;
    }
    return std::unexpected(std::move(*error_));
}

void Round::write(Call& call) {
    auto place = pool_.place_of(call.key);
    if (!place) {
        note(std::move(place).error());
        return;
    }
    auto [found, is_new] = errands_.try_emplace(*place);
    auto& errand = found->second;
    if (is_new) {
        auto borrowed = pool_.borrow(*place);
        if (!borrowed) {
            std::ignore = pool_.follow(borrowed.error(), *place);
            note(std::move(borrowed).error());
            return;
        }
        errand.connection = std::move(*borrowed);
    }
    if (errand.connection) {
        call.write(*errand.connection);
        ++call.times_sent;
        errand.calls.emplace_back(&call, errand.connection->client().commands().count());
    }
}

void Round::hear(const Address& place, Errand& errand) {
    auto& client = errand.connection->client();
    auto sent = errand.calls.back().second;
    auto last = std::optional<Error>{};
    for (auto& [call, end] : errand.calls) {
        auto answer = call->read(*errand.connection, call->times_sent > 1);
        while (client.is_open() && client.owed() > sent - end) {
            std::ignore = client.receive();
        }
        if (!answer) {
            last = answer.error();
            // Who sends us elsewhere has done nothing.
            call->times_sent -= redirect_in(last->message) ? 1 : 0;
            if (auto other = pool_.follow(answer.error(), place)) {
                answer = ask_there(*other, *call);
            }
        }
        if (answer) {
            call->is_done = true;
        } else {
            note(std::move(answer).error());
        }
    }
    pool_.give_back(place, std::move(errand.connection), last ? &*last : nullptr);
}

Result<void> Round::ask_there(const Address& place, Call& call) {
    auto ask = [&](Connection& connection) -> Result<void> {
        call.write(connection);
        ++call.times_sent;
        TRY(connection.client().send());
        return call.read(connection, call.times_sent > 1);
    };
    return pool_.once_at(place, Pool::Asking::Yes, ask);
}

void Round::note(Error error) {
    if (!error_ || rank(error) > rank(*error_)) {
        error_ = std::move(error);
    }
}

} // namespace sluice::store::redis::internal
