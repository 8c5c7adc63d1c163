#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/documents.h"
#include "server/event_router.h"
#include "server/intake/source_feed.h"
#include "server/problem.h"

namespace sluice::server::intake {

/// A source at work. Destroyed, it brings nothing more.
class RunningSource {
public:
    virtual ~RunningSource() = default;
};

/// A way for events to come in, such as a watched directory. Adding one is adding a kind.
class SourceKind {
public:
    virtual ~SourceKind() = default;
    /// What is wrong with a form; members that all sources have are not in it.
    virtual std::optional<Problem> check(const Value& form) const = 0;
    /// A form without what is secret.
    virtual Value shown(const Value& form) const { return form; }
    /// Begins to bring events; null for one that waits to be called. The feed outlives it.
    virtual std::unique_ptr<RunningSource> run(const Value& form, SourceFeed& feed) const = 0;
};

/// Object stores call it: `POST /hooks/s3/{source}`.
class S3Kind final : public SourceKind {
public:
    std::optional<Problem> check(const Value& form) const override;
    std::unique_ptr<RunningSource> run(const Value& form, SourceFeed& feed) const override;
};

/// The sources that people set up: `{kind, to: {run}, paused, …}`. May be used from any thread.
class Sources {
public:
    static constexpr auto kind = std::string_view{"source"};
    using Kinds = std::map<std::string, std::unique_ptr<const SourceKind>, std::less<>>;

    /// What is stored waits for `start`. All that it is given outlives it.
    Sources(Documents& documents, EventRouter& router, const Clock& clock, Kinds kinds);
    ~Sources();

    void start();
    void stop();

    /// After another process has changed it.
    void follow(const std::string& space, const std::string& name);
    std::optional<Problem> put(std::string_view space, std::string_view name, const Value& form);
    std::optional<Problem> remove(std::string_view space, std::string_view name);
    std::optional<Problem> set_paused(std::string_view space, std::string_view name,
                                      bool is_paused);
    Result<Value> view(std::string_view space, std::string_view name) const;
    std::vector<Value> list(std::string_view space) const;

    /// The feed of a source that is called from outside.
    std::expected<std::shared_ptr<SourceFeed>, Problem> feed_of(std::string_view space,
                                                                std::string_view name,
                                                                std::string_view of_kind) const;

private:
    using Key = std::pair<std::string, std::string>; ///< Namespace and name.
    struct Entry {
        Value form;
        std::shared_ptr<SourceFeed> feed;
        std::unique_ptr<RunningSource> running; ///< Null: paused, or waiting to be called.
    };

    std::optional<Problem> check(const Value& form) const;
    void install(const Key& key, const Value& form);
    Value view_of(const Key& key, const Entry& entry) const;

    Documents& documents_;
    EventRouter& router_;
    const Clock& clock_;
    Kinds kinds_;
    std::mutex changing_;      ///< Held while a source begins or ends, which takes time.
    mutable std::mutex mutex_; ///< Of what follows.
    std::map<Key, Entry> entries_;
    bool has_started_ = false;
};

} // namespace sluice::server::intake
