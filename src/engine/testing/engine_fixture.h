#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "engine/inspector.h"
#include "engine/testing/waiting.h"
#include "event/builder.h"
#include "store/memory/memory_store.h"
#include "store/objects/memory_objects.h"
#include "value/json.h"

namespace sluice::engine::testing {

/// Functions that answer at once, with their input or as their name says; `silent` never does.
class InstantSink final : public event::Sink {
public:
    void deliver(event::Delivery delivery, Done done) override {
        if (delivery.target == "silent") {
            auto lock = std::lock_guard{mutex_};
            unanswered_.emplace_back(std::move(delivery), std::move(done));
            arrived_.notify_all();
        } else if (delivery.target == "fail") {
            done({.is_success = false, .error_kind = "failed", .error_message = "as asked"});
        } else if (delivery.target == "third_time" && delivery.attempt < 3) {
            done({.is_success = false, .error_kind = "flaky", .error_message = "not yet"});
        } else {
            done({.result = delivery.payload});
        }
    }
    void cancel(std::string_view token) override {
        auto lock = std::lock_guard{mutex_};
        cancelled_.emplace_back(token);
    }

    /// Waits until `silent` was called this often, and gives that call.
    event::Delivery await_silent(std::size_t count = 1) {
        auto lock = std::unique_lock{mutex_};
        arrived_.wait(lock, [&] { return unanswered_.size() >= count; });
        return unanswered_[count - 1].first;
    }
    std::vector<std::string> cancelled() {
        auto lock = std::lock_guard{mutex_};
        return cancelled_;
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::vector<std::pair<event::Delivery, Done>> unanswered_;
    std::vector<std::string> cancelled_;
};

/// An engine over a store in memory, with real threads.
class EngineFixture : public ::testing::Test {
protected:
    void SetUp() override { open(); }

    void open(const std::filesystem::path& marker = {}) {
        references_.emplace(objects_, *load_secret(store_));
        auto options = EngineOptions{.references = &*references_, .marker = marker};
        for (const auto* name : {"echo", "fail", "third_time", "silent"}) {
            options.functions[name] = {.sink = &sink_};
        }
        options.functions["third_time"].retry = {.attempts = 3,
                                                 .interval = std::chrono::milliseconds{1}};
        engine_ = std::move(*Engine::open(store_, vocabulary_, clock_, diagnostics_, options));
    }

    void define(const std::string& name, const std::string& form) {
        auto added =
            engine_->catalog().add("default", {.name = name, .form = *value::parse_json(form)});
        ASSERT_TRUE(added) << added.error().message;
    }

    Value start_and_wait(const std::string& run, const std::string& definition, Value input = {}) {
        start(run, definition, std::move(input));
        return wait_end(run);
    }

    void start(const std::string& run, const std::string& definition, Value input = {}) {
        auto started = wait_for<Value>([&](auto done) {
            engine_->start({.id = run, .definition = definition, .input = std::move(input)},
                           std::move(done));
        });
        ASSERT_TRUE(started) << started.error().message;
    }

    Value wait_end(const std::string& run) {
        auto ended =
            wait_for<Value>([&](auto done) { engine_->await({.id = run}, std::move(done)); });
        return ended ? *ended : Value{ended.error().message};
    }

    std::vector<trigger::Fate> send(const std::string& run, const std::vector<std::string>& ids,
                                    const std::string& type) {
        auto events = std::vector<event::Event>{};
        for (const auto& id : ids) {
            events.push_back(event::Builder{id, "test", type}.run(run).build());
        }
        auto receipt = wait_for<Receipt>(
            [&](auto done) { engine_->send("default", std::move(events), std::move(done)); });
        return receipt ? receipt->fates : std::vector<trigger::Fate>{};
    }

    void expect_replays(const std::string& run) {
        auto inspector = Inspector{store_, vocabulary_};
        auto report = replay(inspector, {.id = run}, {});
        ASSERT_TRUE(report) << report.error().message;
        EXPECT_EQ(report->difference_count, 0U)
            << (report->differences.empty() ? "" : report->differences.front().what);
        EXPECT_GT(report->events, 0U);
    }

    store::memory::MemoryStore store_{4};
    trigger::Vocabulary vocabulary_;
    SystemClock clock_;
    observe::NullDiagnostics diagnostics_;
    store::MemoryObjects objects_;
    std::optional<References> references_;
    InstantSink sink_;
    std::unique_ptr<Engine> engine_;
};

} // namespace sluice::engine::testing
