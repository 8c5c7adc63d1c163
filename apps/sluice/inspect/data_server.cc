#include "sluice/inspect/data_server.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "engine/references.h"
#include "observe/metrics.h"
#include "reactor/timer_thread.h"
#include "reactor/worker_pool.h"
#include "server/gateway.h"
#include "server/live_feed.h"
#include "server/services.h"
#include "sluice/languages.h"
#include "sluice/session.h"
#include "store/objects/object_directory.h"

namespace sluice::app {

namespace {

/// The routes of a server that look. They read the store; the engine that the others would ask
/// knows of nothing.
class DataServer {
public:
    static Result<std::shared_ptr<DataServer>> open(const std::string& data) {
        auto made = std::make_shared<DataServer>();
        made->store_ = TRY(open_to_read(data));
        made->objects_ = TRY(store::ObjectDirectory::open(std::filesystem::path{data} / "objects",
                                                          store::ObjectAccess::ReadOnly));
        if (auto secret = engine::load_secret(*made->store_)) {
            made->references_.emplace(*made->objects_, *secret);
            made->vocabulary_ = make_vocabulary(*secret);
        }
        made->session_ = TRY(Session::open(
            {.data = {}, .durability = store::Durability::Memory, .calls_functions = false}));
        made->open_gateway();
        return made;
    }

    void handle(http::Request request, const server::Reply& reply) const {
        if (request.method != http::Method::Get) {
            server::answer(reply, server::Problem{.status = 405,
                                                  .code = "method_not_allowed",
                                                  .detail = "a data directory is only looked at "
                                                            "here: `sluice serve` changes it"});
            return;
        }
        gateway_->handle(std::move(request), reply);
    }

private:
    void open_gateway() {
        services_.emplace(server::Services{.engine = session_->engine(),
                                           .store = *store_,
                                           .vocabulary = vocabulary_,
                                           .metrics = metrics_,
                                           .clock = clock_,
                                           .timers = timers_,
                                           .workers = workers_,
                                           .live = live_,
                                           .compile = {},
                                           .version = SLUICE_VERSION,
                                           .limits = decide_limits,
                                           .references = references_ ? &*references_ : nullptr});
        auto routes = server::RouteTable{};
        server::add_run_routes(routes, *services_);
        server::add_run_trigger_routes(routes, *services_);
        server::add_run_history_routes(routes, *services_);
        gateway_.emplace(std::move(routes), tokens_, metrics_, server::GatewayOptions{});
    }

    SystemClock clock_;
    observe::Metrics metrics_;
    server::TokenTable tokens_{clock_};
    server::LiveFeed live_{clock_, [] { return Value{}; }};
    reactor::TimerThread timers_;
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<store::Objects> objects_;
    trigger::Vocabulary vocabulary_ = make_vocabulary();
    std::optional<engine::References> references_; ///< None where no engine was there before.
    std::unique_ptr<Session> session_;
    std::optional<server::Services> services_;
    std::optional<server::Gateway> gateway_;
    reactor::WorkerPool workers_{"look"}; ///< Goes first: what it does needs all of the above.
};

} // namespace

Result<std::unique_ptr<client::Transport>> open_data(const std::string& data) {
    auto served = TRY(DataServer::open(data));
    return client::make_local_transport(
        [served](http::Request request, const server::Reply& reply) {
            served->handle(std::move(request), reply);
        },
        data);
}

} // namespace sluice::app
