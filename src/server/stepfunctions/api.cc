#include "server/stepfunctions/api.h"

#include <utility>

#include "http/signing/signature.h"
#include "http/url.h"
#include "server/stepfunctions/internal/operation.h"
#include "server/stepfunctions/internal/response.h"
#include "server/stepfunctions/state_machine.h"
#include "value/json.h"

namespace sluice::server::stepfunctions {

using http::signing::Signature;

namespace {

constexpr auto target_header = std::string_view{"X-Amz-Target"};
constexpr auto target_prefix = std::string_view{"AWSStepFunctions."};
constexpr auto problem_type = std::string_view{"application/problem+json"};

/// Says what the gateway refuses as the service would.
class TranslatedReply final : public http::Exchange {
public:
    explicit TranslatedReply(Reply reply) : reply_(std::move(reply)) {}

    void answer(http::Response response) override {
        const auto* type = response.headers.find("Content-Type");
        auto is_problem = type != nullptr && type->starts_with(problem_type);
        reply_->answer(is_problem ? response_of(fault_of_problem(response.status, response.body))
                                  : std::move(response));
    }
    std::shared_ptr<http::Stream> stream(http::Response head,
                                         std::function<void()> on_close) override {
        return reply_->stream(std::move(head), std::move(on_close));
    }
    void when_gone(std::function<void()> call) override { reply_->when_gone(std::move(call)); }

private:
    Reply reply_;
};

std::vector<Operation> all_operations() {
    auto all = std::vector<Operation>{};
    for (auto part :
         {machine_operations, definition_operations, version_operations, alias_operations,
          tag_operations, execution_operations, execution_list_operations, history_operations,
          activity_operations, task_operations, map_run_operations, test_state_operations}) {
        for (auto& operation : part()) {
            all.push_back(std::move(operation));
        }
    }
    return all;
}

std::expected<Call, Fault> read_call(const Operation& operation, const Incoming& incoming) {
    const auto& text = incoming.request.body;
    auto body = text.empty() ? Result<Value>{Value::object({})} : value::parse_json(text);
    if (!body || !body->is_map()) {
        return refuse("SerializationException", "the body must be a JSON object{}",
                      body ? "" : ": " + body.error().message);
    }
    TRY(check_parameters(*body, operation.parameters));
    return Call{.space = incoming.space, .body = *std::move(body)};
}

Handle handle_of(World& world, const Operation& operation) {
    return [&world, operation](const Incoming& incoming, const Reply& reply) {
        auto respond = Responder{reply};
        auto call = read_call(operation, incoming);
        if (!call) {
            respond(std::unexpected(call.error()));
            return;
        }
        if (const auto* wait = std::get_if<Waiting>(&operation.work)) {
            (*wait)(world, *call, respond);
            return;
        }
        do_on_worker(world.services, reply,
                     [&world, respond, work = std::get<Blocking>(operation.work),
                      call = *std::move(call)] { respond(work(world, call)); });
    };
}

Problem unsigned_problem(std::string detail) {
    return {.status = 401, .code = "unauthorized", .detail = std::move(detail)};
}

} // namespace

std::vector<std::string> Api::kinds() {
    return {std::string{StateMachine::kind}, std::string{MachineAlias::kind},
            std::string{Activity::kind}};
}

Api::Api(const Services& services, const AccessKeys& keys, ArnMaker arns)
    : services_(services), keys_(keys), world_(new World{services, std::move(arns)}) {}

Api::~Api() = default;

void Api::add_routes(RouteTable& routes) {
    for (const auto& operation : all_operations()) {
        routes.add({http::Method::Post, fmt::format("/{}{}", target_prefix, operation.name),
                    operation.policy, handle_of(*world_, operation)});
    }
}

bool Api::speaks(const http::Request& request) const {
    auto target = http::origin_form(request.target);
    return request.method == http::Method::Post && (target == "/" || target.starts_with("/?")) &&
           request.headers.find(target_header) != nullptr;
}

std::vector<std::string> Api::segments(const http::Request& request) const {
    // Any other target finds no route.
    const auto* target = request.headers.find(target_header);
    return {target != nullptr && target->starts_with(target_prefix) ? *target : std::string{}};
}

std::string_view Api::host(std::string_view name) const {
    // Clients put this before the host of StartSyncExecution and TestState.
    constexpr auto sync = std::string_view{"sync-"};
    return name.starts_with(sync) ? name.substr(sync.size()) : name;
}

bool Api::is_signed(const http::Request& request) const {
    const auto* header = request.headers.find("Authorization");
    return header != nullptr && header->starts_with(Signature::algorithm);
}

std::variant<Caller, Problem> Api::signer_of(const http::Request& request) const {
    auto signature = Signature::parse(*request.headers.find("Authorization"));
    if (!signature) {
        return unsigned_problem(signature.error().message);
    }
    auto key = keys_.find(signature->key);
    auto now = services_.clock.wall();
    if (!key || (key->info.expires && *key->info.expires <= now)) {
        return unsigned_problem(
            fmt::format("there is no access key \"{}\": it is the name of a token that the "
                        "configuration has with a secret, and the secret is the secret access key",
                        signature->key));
    }
    if (auto checked = signature->check(request, key->secret, now); !checked) {
        return unsigned_problem(checked.error().message);
    }
    return Caller{.name = key->info.name, .role = key->info.role, .space = key->info.space};
}

Reply Api::translated(Reply reply) const {
    return std::make_shared<TranslatedReply>(std::move(reply));
}

} // namespace sluice::server::stepfunctions
