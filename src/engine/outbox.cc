#include "engine/outbox.h"

#include <algorithm>
#include <utility>

#include "engine/run_records.h"
#include "value/archive.h"

namespace sluice::engine {

namespace {

constexpr auto outbox_format = std::uint8_t{3};

void put_run(Encoder& out, const RunName& run) {
    out.text(run.space);
    out.text(run.id);
}

Result<RunName> read_run(Decoder& in) {
    auto space = std::string{TRY(in.text())};
    auto id = std::string{TRY(in.text())};
    return RunName{.space = std::move(space), .id = std::move(id)};
}

} // namespace

void Outbox::add_call(const RunName& run, const trigger::TaskKey& key) {
    new_calls_.emplace_back(run, key);
    auto& of_run = calls_[run];
    of_run.insert_or_assign(of_run.end(), key, 0);
}

void Outbox::add_message(ShardId to, Message message) {
    new_messages_.push_back(
        {.from = shard_, .to = to, .number = ++sent_[to], .message = std::move(message)});
    note_start(new_messages_.back());
}

void Outbox::note_start(const StreamInput& input) {
    const auto& message = input.message;
    if (message.kind == Message::Kind::Start && message.info.parent) {
        auto parent = RunName{.space = message.to.space, .id = message.info.parent->run};
        starts_[{input.to, input.number}] = {std::move(parent), message.to};
    }
}

std::set<RunName> Outbox::starting(const RunName& parent) const {
    auto found = std::set<RunName>{};
    for (const auto& [place, start] : starts_) {
        if (start.first == parent) {
            found.insert(start.second);
        }
    }
    return found;
}

void Outbox::close_call(const RunName& run, const trigger::TaskKey& key) {
    auto of_run = calls_.find(run);
    if (of_run == calls_.end()) {
        return;
    }
    auto found = of_run->second.find(key);
    if (found == of_run->second.end()) {
        return;
    }
    if (found->second == 0) {
        // Opened and closed in one batch: it never leaves.
        std::erase(new_calls_, CallName{run, key});
    } else {
        finish_one(found->second);
    }
    of_run->second.erase(found);
    if (of_run->second.empty()) {
        calls_.erase(of_run);
    }
}

void Outbox::confirm(ShardId receiver, std::uint64_t number) {
    auto it = messages_.lower_bound({receiver, 0});
    while (it != messages_.end() && it->first.first == receiver && it->first.second <= number) {
        finish_one(it->second);
        starts_.erase(it->first);
        it = messages_.erase(it);
    }
}

void Outbox::finish_one(std::uint64_t commit) {
    auto found = remaining_.find(commit);
    if (found != remaining_.end() && --found->second == 0) {
        remaining_.erase(found);
        done_.push_back(commit);
    }
}

void Outbox::write(std::uint64_t commit, store::Batch& batch) {
    for (auto finished : std::exchange(done_, {})) {
        batch.remove(keys::outbox(shard_, finished));
    }
    if (new_calls_.empty() && new_messages_.empty()) {
        return;
    }
    auto record = std::string{};
    auto out = Encoder{record};
    out.u8(outbox_format);
    out.varint(new_calls_.size());
    auto of_run = calls_.end();
    for (const auto& [run, key] : new_calls_) {
        put_run(out, run);
        value::encode_fields(key, out);
        // Those of one run follow each other.
        if (of_run == calls_.end() || of_run->first != run) {
            of_run = calls_.find(run);
        }
        of_run->second.find(key)->second = commit;
    }
    out.varint(new_messages_.size());
    for (const auto& message : new_messages_) {
        out.u16(message.to.raw());
        out.varint(message.number);
        value::encode_fields(message.message, out);
        messages_[{message.to, message.number}] = commit;
        batch.put(keys::stream_sent(shard_, message.to), number_record(message.number));
    }
    batch.put(keys::outbox(shard_, commit), record);
    remaining_[commit] = new_calls_.size() + new_messages_.size();
    new_calls_.clear();
    written_ = std::exchange(new_messages_, {});
}

Result<Outbox::Left> Outbox::load(const store::Store& store) {
    auto left = Left{};
    auto sent = keys::table(shard_, 'L') + "s";
    auto streams = store.scan(sent, keys::end_of(sent));
    for (; streams->is_valid(); streams->next()) {
        auto key = Decoder{streams->key().substr(sent.size())};
        auto receiver = ShardId{TRY(key.u16())};
        sent_[receiver] = TRY(read_number(streams->value()));
    }
    TRY(streams->status());

    auto prefix = keys::table(shard_, 'O');
    auto cursor = store.scan(prefix, keys::end_of(prefix));
    for (; cursor->is_valid(); cursor->next()) {
        auto key = Decoder{cursor->key().substr(prefix.size())};
        auto commit = TRY(key.u64());
        auto in = Decoder{cursor->value()};
        TRY(in.format(outbox_format, "outbox record"));
        auto calls = TRY(in.varint());
        for (auto at = std::uint64_t{0}; at < calls; ++at) {
            auto run = TRY(read_run(in));
            auto task = TRY(value::decode_fields<trigger::TaskKey>(in));
            calls_[run][task] = commit;
            left.calls.emplace_back(std::move(run), task);
        }
        auto messages = TRY(in.varint());
        for (auto at = std::uint64_t{0}; at < messages; ++at) {
            auto to = ShardId{TRY(in.u16())};
            auto number = TRY(in.varint());
            auto message = TRY(value::decode_fields<Message>(in));
            messages_[{to, number}] = commit;
            left.messages.push_back(
                {.from = shard_, .to = to, .number = number, .message = std::move(message)});
            note_start(left.messages.back());
        }
        remaining_[commit] = calls + messages;
    }
    TRY(cursor->status());
    std::ranges::sort(left.messages, {},
                      [](const StreamInput& each) { return std::pair{each.to, each.number}; });
    return left;
}

std::vector<std::pair<RunName, trigger::TaskKey>> Outbox::open_calls() const {
    auto open = std::vector<CallName>{};
    for (const auto& [run, calls] : calls_) {
        for (const auto& [key, commit] : calls) {
            open.emplace_back(run, key);
        }
    }
    return open;
}

} // namespace sluice::engine
