#include "sluice/session.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "engine/inspector.h"
#include "sluice/backend/brokers.h"
#include "sluice/backend/stores.h"
#include "sluice/definition_file.h"
#include "sluice/output.h"
#include "sluice/served_directory.h"
#include "store/embedded/embedded_store.h"
#include "store/objects/memory_objects.h"
#include "store/objects/object_directory.h"
#include "workflow/raw/parse.h"

namespace sluice::app {

namespace {

using workflow::raw::FunctionForm;

Result<void> add_functions(engine::Catalog& catalog, const std::string& hash,
                           std::vector<FunctionForm>& forms) {
    auto definition = TRY(catalog.definition(hash));
    if (auto document = workflow::raw::parse(definition.source, definition.name)) {
        std::ranges::move(functions_of(*document), std::back_inserter(forms));
    }
    return {};
}

/// What the definitions of interrupted runs declared: their tasks are begun again as soon as the
/// engine is there. And what that of a run declared which is to be forked.
Result<void> add_functions_of_runs(store::Store& store, const trigger::Vocabulary& vocabulary,
                                   const std::string& run, std::vector<FunctionForm>& forms) {
    auto inspector = engine::Inspector{store, vocabulary};
    auto space = engine::RunName{}.space;
    if (!run.empty()) {
        auto state = TRY(inspector.run({.id = run}));
        if (!state->info.set.empty()) {
            TRY(add_functions(inspector.catalog(), state->info.set, forms));
        }
    }
    for (auto status : {trigger::Status::Running, trigger::Status::Queued}) {
        for (const auto& name : TRY(inspector.definitions(space, status))) {
            if (auto hash = inspector.catalog().find(space, name)) {
                TRY(add_functions(inspector.catalog(), *hash, forms));
            }
        }
    }
    return {};
}

/// Whoever may run any command here may also reach any address.
Result<void> trust(std::vector<FunctionForm>& forms) {
    auto seen = std::set<std::string>{};
    for (auto& form : forms) {
        form.is_private = true;
        if (seen.insert(form.name).second && form.kind == workflow::raw::FunctionKind::Poll) {
            return fail(Errc::InvalidInput,
                        "function \"{}\" is of kind poll: workers ask a server for its tasks, so "
                        "use sluice serve, or --functions with another kind",
                        form.name);
        }
    }
    return {};
}

Error in_directory(const Error& error, const std::filesystem::path& data) {
    if (auto url = error.code == Errc::Conflict ? ServedDirectory::url_of(data) : std::string{};
        !url.empty()) {
        return {error.code,
                fmt::format("{} belongs to the server at {}: ask that, with --server {}",
                            data.string(), url, url)};
    }
    if (error.message.find(data.string()) != std::string::npos) {
        return error;
    }
    return {error.code, fmt::format("{}: {}", data.string(), error.message)};
}

Result<std::unique_ptr<store::Objects>> open_objects(const std::filesystem::path& data,
                                                     store::Durability durability) {
    if (durability == store::Durability::Memory) {
        return std::make_unique<store::MemoryObjects>();
    }
    return TRY(store::ObjectDirectory::open(data / "objects", store::ObjectAccess::ReadWrite));
}

/// Processes on one machine may share the directory, where each has a note of its own.
std::string marker_name(const SessionOptions& options) {
    auto name = std::string{"deciding"};
    if (options.shared) {
        name += '-' + options.shared->address;
        std::ranges::replace(name, ':', '-');
    }
    return name;
}

void say_cuts(const store::Store& store) {
    const auto* embedded = dynamic_cast<const store::embedded::EmbeddedStore*>(&store);
    if (embedded == nullptr) {
        return;
    }
    for (const auto& cut : embedded->recovery().cuts) {
        say("{}: cut {} bytes at {} that a crash left unfinished: nobody was told of them",
            cut.file, cut.bytes, cut.offset);
    }
}

} // namespace

Result<std::unique_ptr<Session>> Session::open(SessionOptions options) {
    auto session = std::unique_ptr<Session>{new Session{options.diagnostics}};
    auto store = open_store(options.store, options.data, options.durability, session->diagnostics_);
    if (!store) {
        return std::unexpected(options.store.empty() ? in_directory(store.error(), options.data)
                                                     : store.error());
    }
    session->store_ = *std::move(store);
    say_cuts(*session->store_);

    auto is_kept = options.durability != store::Durability::Memory;
    session->objects_ = TRY(open_objects(options.data, options.durability));
    auto secret = TRY(engine::load_secret(*session->store_));
    session->vocabulary_ = make_vocabulary(secret);
    session->references_.emplace(*session->objects_, secret);
    auto marker = is_kept ? options.data / marker_name(options) : std::filesystem::path{};
    auto forms = std::move(options.functions);
    if (options.calls_functions && options.trusts_definitions) {
        TRY(add_functions_of_runs(*session->store_, session->vocabulary_, options.run, forms));
        TRY(trust(forms));
    }
    session->functions_ =
        TRY(Functions::create(forms, session->diagnostics_, options.secrets, options.simulation));
    if (!options.simulation) {
        TRY(session->functions_->add_integrations(
            options.integrations, options.trusts_definitions || options.allows_private));
    }
    if (options.trusts_definitions) {
        session->functions_->open("");
    }
    if (options.prepare) {
        TRY(options.prepare(*session->store_, *session->functions_));
    }
    session->tasks_ = &session->functions_->queues();
    auto sharing = std::optional<engine::Sharing>{};
    if (options.shared) {
        auto& shared = *options.shared;
        auto bus = TRY(open_bus(shared.bus, session->diagnostics_));
        session->node_ = TRY(cluster::Node::open(*session->store_, session->vocabulary_,
                                                 std::move(bus), secret, session->diagnostics_,
                                                 {.role = shared.role,
                                                  .address = shared.address,
                                                  .lease = shared.lease,
                                                  .stop = options.on_stop}));
        session->tasks_ = &session->node_->share_tasks(*session->tasks_);
        sharing = session->node_->sharing();
    }
    session->engine_ = TRY(engine::Engine::open(
        *session->store_, session->vocabulary_, session->clock_, session->diagnostics_,
        {.lanes = options.threads,
         .sharing = std::move(sharing),
         .functions = session->functions_->table().shared,
         .functions_by_space = session->functions_->table().by_space,
         .limits = decide_limits,
         .references = &*session->references_,
         .result_bytes_max = options.result_bytes_max,
         .calls_functions = options.calls_functions,
         .marker = std::move(marker),
         .watch = std::move(options.watch),
         .admit_nested = std::move(options.admit_nested),
         .find_meaning = std::move(options.find_meaning),
         .metrics = options.metrics,
         .on_stop = std::move(options.on_stop)}));
    session->functions_->attach(*session->engine_);
    if (session->node_) {
        session->node_->start(*session->engine_);
    }
    return session;
}

void Session::stop() {
    if (node_) {
        node_->stop();
    }
    if (engine_) {
        engine_->stop();
    }
    functions_.reset();
}

Session::~Session() {
    stop();
}

Result<void> check_directory(const std::filesystem::path& data) {
    auto ignored = std::error_code{};
    if (!std::filesystem::is_directory(data, ignored)) {
        return fail(Errc::NotFound, "there is no data directory {}", data.string());
    }
    return {};
}

Result<std::unique_ptr<store::Store>> open_to_read(const std::filesystem::path& data) {
    TRY(check_directory(data));
    auto store =
        store::embedded::EmbeddedStore::open(data, {.access = store::embedded::Access::ReadOnly});
    if (!store) {
        return std::unexpected(in_directory(store.error(), data));
    }
    return *std::move(store);
}

} // namespace sluice::app
