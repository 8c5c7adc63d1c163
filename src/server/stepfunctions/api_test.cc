#include "server/stepfunctions/api.h"

#include <future>

#include <fmt/chrono.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/poll/queues.h"
#include "http/signing/signature.h"
#include "reactor/timer_thread.h"
#include "server/gateway.h"
#include "server/stepfunctions/parameters.h"
#include "server/stepfunctions/state_machine.h"
#include "store/memory/memory_store.h"
#include "value/json.h"
#include "workflow/asl/compile.h"
#include "workflow/asl/vocabulary.h"

namespace sluice::server::stepfunctions {
namespace {

using ::testing::HasSubstr;

class PromisedReply final : public http::Exchange {
public:
    void answer(http::Response given) override { response.set_value(std::move(given)); }
    std::shared_ptr<http::Stream> stream(http::Response, std::function<void()>) override {
        return nullptr;
    }

    std::promise<http::Response> response;
};

/// Knows poll functions, which it hands to the engine.
class FewFunctions final : public FunctionSetup {
public:
    explicit FewFunctions(std::shared_ptr<connector::poll::Queues> queues)
        : sink(std::move(queues), {}) {}

    std::expected<Value, Problem> put(const std::string& space, const std::string& name,
                                      const Value&) override {
        engine->set_function(space, name, {.sink = &sink});
        return Value::object({});
    }
    std::expected<void, Problem> remove(const std::string& space,
                                        const std::string& name) override {
        engine->remove_function(space, name);
        return {};
    }
    std::optional<Value> find(std::string_view, std::string_view) const override { return {}; }
    std::vector<Value> list(std::string_view) const override { return {}; }

    connector::poll::Sink sink;
    engine::Engine* engine = nullptr;
};

/// A machine that ends at once (`end`), waits (`wait`), lets the activity `dig` work (`work`),
/// hands out a token (`ask`), or is none.
std::string definition(const std::string& kind) {
    if (kind == "end") {
        return R"({"StartAt":"A","States":{"A":{"Type":"Pass","Result":7,"End":true}}})";
    }
    if (kind == "wait") {
        return R"({"StartAt":"A","States":{"A":{"Type":"Wait","Seconds":90000,"End":true}}})";
    }
    if (kind == "work") {
        return R"({"StartAt":"A","States":{"A":{"Type":"Task","End":true,
            "Resource":"arn:aws:states:us-east-1:123456789012:activity:dig"}}})";
    }
    if (kind == "ask") {
        return R"({"StartAt":"A","States":{"A":{"Type":"Task","End":true,
            "Resource":"arn:aws:states:::lambda:invoke.waitForTaskToken",
            "Parameters":{"FunctionName":"ask","Payload":{"token.$":"$$.Task.Token"}}}}})";
    }
    return "{}";
}

class ApiTest : public ::testing::Test {
protected:
    void SetUp() override {
        workflow::asl::add_vocabulary(vocabulary_);
        documents_ = Documents::open(store_, Api::kinds()).value();
        engine_ = engine::Engine::open(store_, vocabulary_, clock_, diagnostics_, {}).value();
        functions_.engine = engine_.get();
        services_.emplace(Services{.engine = *engine_,
                                   .store = store_,
                                   .vocabulary = vocabulary_,
                                   .metrics = metrics_,
                                   .clock = clock_,
                                   .timers = timers_,
                                   .workers = workers_,
                                   .live = live_,
                                   .compile = {},
                                   .version = "1",
                                   .functions = &functions_,
                                   .tasks = queues_.get(),
                                   .documents = documents_.get()});
        api_.emplace(*services_, keys_, ArnMaker{});
        auto routes = RouteTable{};
        api_->add_routes(routes);
        gateway_.emplace(std::move(routes), tokens_, metrics_, GatewayOptions{.protocol = &*api_});
    }
    void TearDown() override {
        workers_.stop();
        engine_->stop();
        queues_->stop();
    }

    http::Response send(http::Request request) {
        auto reply = std::make_shared<PromisedReply>();
        auto answer = reply->response.get_future();
        gateway_->handle(std::move(request), reply);
        return answer.get();
    }
    static http::Request request(const std::string& operation, const std::string& body) {
        return {.method = http::Method::Post,
                .target = "/",
                .headers = {{"Host", "127.0.0.1:8080"},
                            {"Content-Type", "application/x-amz-json-1.0"},
                            {"X-Amz-Target", "AWSStepFunctions." + operation}},
                .body = body};
    }
    Value call(const std::string& operation, const Value& body) {
        auto response = send(request(operation, value::to_json(body)));
        EXPECT_EQ(response.status, 200) << operation << ": " << response.body;
        return value::parse_json(response.body).value_or(Value{});
    }
    std::string refused(const std::string& operation, const Value& body) {
        auto response = send(request(operation, value::to_json(body)));
        EXPECT_EQ(response.status, 400) << operation << ": " << response.body;
        auto told = value::parse_json(response.body).value_or(Value{});
        const auto* type = response.headers.find("x-amzn-ErrorType");
        EXPECT_EQ(type == nullptr ? "" : *type, text_in(told, "__type"));
        return text_in(told, "__type");
    }
    static Value machine(const std::string& name, const std::string& start = "end") {
        return Value::object({{"name", name},
                              {"definition", definition(start)},
                              {"roleArn", "arn:aws:iam::123456789012:role/any"}});
    }
    std::string create(const std::string& name, const std::string& start = "end",
                       const std::string& type = "STANDARD") {
        auto made = call("CreateStateMachine", machine(name, start).with("type", type));
        return text_in(made, "stateMachineArn");
    }
    std::string start(const std::string& arn, const std::string& name) {
        auto started =
            call("StartExecution", Value::object({{"stateMachineArn", arn}, {"name", name}}));
        return text_in(started, "executionArn");
    }
    Value describe_ended(const std::string& execution) {
        auto arn = Arn::parse(execution).value();
        auto ended = std::promise<void>{};
        engine_->await({.id = arn.name + ":" + arn.qualifier},
                       [&](const Result<Value>&) { ended.set_value(); });
        ended.get_future().wait();
        return call("DescribeExecution", Value::object({{"executionArn", execution}}));
    }

    store::memory::MemoryStore store_{4};
    trigger::Vocabulary vocabulary_;
    SystemClock clock_;
    observe::NullDiagnostics diagnostics_;
    observe::Metrics metrics_;
    reactor::TimerThread timers_;
    LiveFeed live_{clock_, [] { return Value{}; }};
    TokenTable tokens_{clock_};
    AccessKeys keys_;
    std::shared_ptr<connector::poll::Queues> queues_ =
        std::make_shared<connector::poll::Queues>(clock_, timers_);
    FewFunctions functions_{queues_};
    std::optional<Services> services_;
    std::optional<Api> api_;
    std::unique_ptr<Documents> documents_;
    std::unique_ptr<engine::Engine> engine_;
    reactor::WorkerPool workers_{"worker"};
    std::optional<Gateway> gateway_;
};

TEST_F(ApiTest, SaysWhatIsWrongWithARequestAsTheServiceDoes) {
    EXPECT_EQ(refused("FlyToTheMoon", Value::object({})), "UnknownOperationException");
    EXPECT_EQ(refused("DescribeExecution", Value::list({})), "SerializationException");
    EXPECT_EQ(refused("DescribeExecution", Value::object({{"executionArn", 5}})),
              "SerializationException");
    EXPECT_EQ(refused("DescribeExecution", Value::object({})), "ValidationException");
    EXPECT_EQ(refused("DescribeExecution", Value::object({{"executionArn", "x"}})), "InvalidArn");
    auto elsewhere = request("", "{}");
    elsewhere.headers.set("X-Amz-Target", "DynamoDB_20120810.ListTables");
    EXPECT_THAT(send(elsewhere).body, HasSubstr("UnknownOperationException"));
    auto broken = send(request("ListStateMachines", "{"));
    EXPECT_EQ(broken.status, 400);
    EXPECT_EQ(*broken.headers.find("Content-Type"), "application/x-amz-json-1.0");
    EXPECT_NE(broken.headers.find("x-amzn-RequestId"), nullptr);
}

TEST_F(ApiTest, TellsOfAllParametersThatAreWrong) {
    auto response = send(request("CreateStateMachine", R"({"type":"LARGE"})"));

    EXPECT_THAT(response.body, HasSubstr("4 validation errors"));
    EXPECT_THAT(response.body, HasSubstr("at 'type'"));
    EXPECT_THAT(response.body, HasSubstr("[STANDARD, EXPRESS]"));
}

TEST_F(ApiTest, TakesTheHostThatClientsMakeForWhatTheyWaitFor) {
    auto asked = request("ListStateMachines", "{}");
    asked.target = "http://sync-127.0.0.1:8080/";
    asked.headers.set("Host", "sync-127.0.0.1:8080");

    EXPECT_EQ(send(asked).status, 200);
}

TEST_F(ApiTest, LetsInWhoeverSignsWithAKeyAndNobodyElse) {
    auto hash = TokenTable::hash_of("a secret of the key");
    tokens_.set_configured({{hash, {.name = "ci", .role = Role::Reader}}});
    keys_.set({{.info = {.name = "ci", .role = Role::Reader}, .secret = "a secret of the key"}});
    auto signed_by = [&](const std::string& operation, const std::string& secret) {
        auto asked = request(operation, "{}");
        auto now = fmt::format(
            "{:%Y%m%dT%H%M%SZ}",
            fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
        asked.headers.add("X-Amz-Date", now);
        auto signature = http::signing::Signature{.key = "ci",
                                                  .day = now.substr(0, 8),
                                                  .region = "us-east-1",
                                                  .service = "states",
                                                  .headers = {"host", "x-amz-date", "x-amz-target"},
                                                  .digest = {}};
        asked.headers.add("Authorization",
                          fmt::format("AWS4-HMAC-SHA256 Credential=ci/{}/us-east-1/states/"
                                      "aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, "
                                      "Signature={}",
                                      signature.day, signature.digest_of(asked, secret)));
        return send(asked);
    };

    EXPECT_EQ(signed_by("ListStateMachines", "a secret of the key").status, 200);
    auto wrong = signed_by("ListStateMachines", "another secret");
    EXPECT_EQ(wrong.status, 400);
    EXPECT_THAT(wrong.body, HasSubstr("UnrecognizedClientException"));
    auto weak = signed_by("CreateActivity", "a secret of the key");
    EXPECT_THAT(weak.body, HasSubstr("AccessDeniedException"));
    EXPECT_EQ(refused("ListStateMachines", Value::object({})), "UnrecognizedClientException");
}

TEST_F(ApiTest, MakesAMachineOnce) {
    auto arn = create("orders");

    EXPECT_EQ(arn, "arn:aws:states:us-east-1:123456789012:stateMachine:orders");
    EXPECT_EQ(create("orders"), arn);
    EXPECT_EQ(refused("CreateStateMachine", machine("orders", "wait")),
              "StateMachineAlreadyExists");
    EXPECT_EQ(refused("CreateStateMachine", machine("no name")), "InvalidName");
    EXPECT_EQ(refused("CreateStateMachine", machine("broken", "")), "InvalidDefinition");
    auto described = call("DescribeStateMachine", Value::object({{"stateMachineArn", arn}}));
    EXPECT_EQ(text_in(described, "definition"), definition("end"));
    EXPECT_EQ(text_in(described, "status"), "ACTIVE");
    EXPECT_EQ(text_in(described, "type"), "STANDARD");
}

TEST_F(ApiTest, ListsMachinesPageByPage) {
    for (const auto* name : {"a", "b", "c"}) {
        create(name);
    }
    auto first = call("ListStateMachines", Value::object({{"maxResults", 2}}));
    auto token = text_in(first, "nextToken");
    auto second = call("ListStateMachines", Value::object({{"nextToken", token}}));

    EXPECT_EQ(first.find("stateMachines")->size(), 2U);
    ASSERT_EQ(second.find("stateMachines")->size(), 1U);
    EXPECT_EQ(text_in(second.find("stateMachines")->as_list()[0], "name"), "c");
    EXPECT_EQ(second.find("nextToken"), nullptr);
    EXPECT_EQ(refused("ListStateMachines", Value::object({{"nextToken", "eA=="}})), "InvalidToken");
}

TEST_F(ApiTest, ForgetsAMachineAndMakesItAnew) {
    auto arn = create("orders");
    auto named = Value::object({{"stateMachineArn", arn}});
    call("DeleteStateMachine", named);

    EXPECT_EQ(refused("DescribeStateMachine", named), "StateMachineDoesNotExist");
    call("DeleteStateMachine", named);
    create("orders", "wait");
}

TEST_F(ApiTest, MakesAMachineThatACrashLeftHalfMade) {
    create("orders");
    ASSERT_TRUE(documents_->remove(StateMachine::kind, "default", "orders"));

    create("orders");
    ASSERT_TRUE(documents_->remove(StateMachine::kind, "default", "orders"));
    EXPECT_EQ(refused("CreateStateMachine", machine("orders", "wait")),
              "StateMachineAlreadyExists");
}

TEST_F(ApiTest, KnowsMachinesThatWereDeployedAnotherWay) {
    auto form = value::parse_json(definition("end")).value();
    auto compiled = workflow::asl::compile(form, {.name = "deployed"});
    engine_->catalog()
        .add("default", {.name = "deployed",
                         .language = compiled.language,
                         .form = compiled.form,
                         .source = definition("end")})
        .value();
    auto arn = ArnMaker{}.machine("deployed");

    EXPECT_EQ(text_in(describe_ended(start(arn, "one")), "output"), "7");
    auto named = Value::object({{"stateMachineArn", arn}});
    EXPECT_EQ(text_in(call("DescribeStateMachine", named), "definition"), definition("end"));
    call("DeleteStateMachine", named);
    EXPECT_EQ(refused("DescribeStateMachine", named), "StateMachineDoesNotExist");
}

TEST_F(ApiTest, GivesEachRevisionOneVersion) {
    auto arn = create("orders");
    auto named = Value::object({{"stateMachineArn", arn}});

    auto one = call("PublishStateMachineVersion", named);
    EXPECT_EQ(text_in(one, "stateMachineVersionArn"), arn + ":1");
    EXPECT_EQ(text_in(call("PublishStateMachineVersion", named), "stateMachineVersionArn"),
              arn + ":1");
    auto updated = call("UpdateStateMachine", named.with("definition", definition("wait"))
                                                  .with("publish", true)
                                                  .with("versionDescription", "waits"));
    EXPECT_EQ(text_in(updated, "stateMachineVersionArn"), arn + ":2");
    EXPECT_EQ(refused("PublishStateMachineVersion", named.with("revisionId", "INITIAL")),
              "ConflictException");
    EXPECT_EQ(refused("UpdateStateMachine", named), "MissingRequiredParameter");

    auto first = call("DescribeStateMachine", Value::object({{"stateMachineArn", arn + ":1"}}));
    EXPECT_EQ(text_in(first, "definition"), definition("end"));
    auto versions = call("ListStateMachineVersions", named);
    EXPECT_EQ(versions.find("stateMachineVersions")->size(), 2U);
    call("DeleteStateMachineVersion", Value::object({{"stateMachineVersionArn", arn + ":1"}}));
    EXPECT_EQ(refused("StartExecution", Value::object({{"stateMachineArn", arn + ":1"}})),
              "StateMachineDoesNotExist");
}

TEST_F(ApiTest, LeadsAliasesToVersionsByTheirWeights) {
    auto arn = create("orders");
    auto named = Value::object({{"stateMachineArn", arn}});
    call("PublishStateMachineVersion", named);
    call("UpdateStateMachine", named.with("definition", definition("wait")).with("publish", true));
    auto route = [&](const char* version, int weight) {
        return Value::object({{"stateMachineVersionArn", arn + ":" + version}, {"weight", weight}});
    };
    auto routing = [](std::vector<Value> routes) {
        return Value::object(
            {{"name", "PROD"}, {"routingConfiguration", Value::list(std::move(routes))}});
    };

    EXPECT_EQ(refused("CreateStateMachineAlias", routing({route("1", 60)})), "ValidationException");
    EXPECT_EQ(refused("CreateStateMachineAlias", routing({route("7", 100)})), "ResourceNotFound");
    auto made = call("CreateStateMachineAlias", routing({route("1", 100)}));
    auto alias = Value::object({{"stateMachineAliasArn", text_in(made, "stateMachineAliasArn")}});
    EXPECT_EQ(refused("DeleteStateMachineVersion",
                      Value::object({{"stateMachineVersionArn", arn + ":1"}})),
              "ConflictException");
    auto ended = describe_ended(start(arn + ":PROD", "one"));
    EXPECT_EQ(text_in(ended, "stateMachineVersionArn"), arn + ":1");
    EXPECT_EQ(text_in(ended, "stateMachineAliasArn"), arn + ":PROD");
    call("UpdateStateMachineAlias",
         alias.with("routingConfiguration", Value::list({route("1", 50), route("2", 50)})));
    auto described = call("DescribeStateMachineAlias", alias);
    EXPECT_EQ(described.find("routingConfiguration")->size(), 2U);
    EXPECT_EQ(call("ListStateMachineAliases", named).find("stateMachineAliases")->size(), 1U);
    call("DeleteStateMachineAlias", alias);
    EXPECT_EQ(refused("DescribeStateMachineAlias", alias), "ResourceNotFound");
}

TEST(MachineAlias, LeadsTheSameExecutionTheSameWay) {
    auto alias =
        MachineAlias{.machine = "m",
                     .name = "a",
                     .description = {},
                     .routes = {{.version = 1, .weight = 30}, {.version = 2, .weight = 70}}};
    auto firsts = 0;
    for (auto number = 0; number < 1'000; ++number) {
        auto name = "execution " + std::to_string(number);
        firsts += alias.version_for(name) == 1 ? 1 : 0;
        EXPECT_EQ(alias.version_for(name), alias.version_for(name));
    }

    EXPECT_GT(firsts, 230);
    EXPECT_LT(firsts, 370);
}

TEST_F(ApiTest, StartsTheSameExecutionOnce) {
    auto arn = create("orders", "wait");
    auto one = Value::object({{"stateMachineArn", arn}, {"name", "one"}, {"input", "{\"a\": 1}"}});
    auto execution = text_in(call("StartExecution", one), "executionArn");

    EXPECT_EQ(execution, "arn:aws:states:us-east-1:123456789012:execution:orders:one");
    EXPECT_EQ(text_in(call("StartExecution", one), "executionArn"), execution);
    EXPECT_EQ(refused("StartExecution", one.with("input", "{}")), "ExecutionAlreadyExists");
    EXPECT_EQ(refused("StartExecution", one.with("input", "{")), "InvalidExecutionInput");
    EXPECT_EQ(refused("StartExecution", one.with("name", "a b")), "InvalidName");
    EXPECT_EQ(refused("StartExecution", one.with("stateMachineArn", arn + "s")),
              "StateMachineDoesNotExist");
    auto named = Value::object({{"executionArn", execution}});
    auto running = call("DescribeExecution", named);
    EXPECT_EQ(text_in(running, "status"), "RUNNING");
    EXPECT_EQ(text_in(running, "input"), R"({"a":1})");
    call("StopExecution", named.with("error", "Mine").with("cause", "no more"));
    auto stopped = describe_ended(execution);
    EXPECT_EQ(text_in(stopped, "status"), "ABORTED");
    EXPECT_EQ(text_in(stopped, "error"), "Mine");
    EXPECT_EQ(text_in(stopped, "cause"), "no more");
    EXPECT_EQ(refused("StartExecution", one), "ExecutionAlreadyExists");
}

TEST_F(ApiTest, TellsOfExecutionsAndTheirMachine) {
    auto arn = create("orders");
    auto ended = describe_ended(start(arn, "one"));
    call("UpdateStateMachine",
         Value::object({{"stateMachineArn", arn}, {"definition", definition("wait")}}));
    start(arn, "two");

    EXPECT_EQ(text_in(ended, "status"), "SUCCEEDED");
    EXPECT_EQ(text_in(ended, "output"), "7");
    EXPECT_EQ(text_in(ended, "redriveStatus"), "NOT_REDRIVABLE");
    auto of_one = call("DescribeStateMachineForExecution",
                       Value::object({{"executionArn", text_in(ended, "executionArn")}}));
    EXPECT_EQ(text_in(of_one, "definition"), definition("end"));
    auto all = Value::object({{"stateMachineArn", arn}});
    EXPECT_EQ(call("ListExecutions", all).find("executions")->size(), 2U);
    auto running = call("ListExecutions", all.with("statusFilter", "RUNNING"));
    ASSERT_EQ(running.find("executions")->size(), 1U);
    EXPECT_EQ(text_in(running.find("executions")->as_list()[0], "name"), "two");
    auto page = call("ListExecutions", all.with("maxResults", 1));
    auto rest = call("ListExecutions", all.with("nextToken", text_in(page, "nextToken")));
    EXPECT_EQ(rest.find("executions")->size(), 1U);
    EXPECT_EQ(refused("DescribeExecution",
                      Value::object({{"executionArn", ArnMaker{}.execution("orders", "none")}})),
              "ExecutionDoesNotExist");
}

TEST_F(ApiTest, WaitsForTheEndOfAnExpressExecution) {
    auto standard = create("slow");
    auto express = create("quick", "end", "EXPRESS");

    auto ended =
        call("StartSyncExecution", Value::object({{"stateMachineArn", express}, {"input", "[1]"}}));
    EXPECT_EQ(text_in(ended, "status"), "SUCCEEDED");
    EXPECT_EQ(text_in(ended, "output"), "7");
    EXPECT_EQ(text_in(ended, "input"), "[1]");
    EXPECT_THAT(text_in(ended, "executionArn"), HasSubstr(":express:quick:"));
    EXPECT_EQ(refused("StartSyncExecution", Value::object({{"stateMachineArn", standard}})),
              "StateMachineTypeNotSupported");
    EXPECT_EQ(refused("ListExecutions", Value::object({{"stateMachineArn", express}})),
              "StateMachineTypeNotSupported");
}

TEST_F(ApiTest, GivesTasksOfActivitiesToWorkers) {
    auto activity =
        text_in(call("CreateActivity", Value::object({{"name", "dig"}})), "activityArn");
    auto named = Value::object({{"activityArn", activity}});
    auto execution = start(create("mine", "work"), "one");

    auto task = call("GetActivityTask", named);
    auto token = Value::object({{"taskToken", text_in(task, "taskToken")}});
    call("SendTaskHeartbeat", token);
    EXPECT_EQ(refused("SendTaskSuccess", token.with("output", "{")), "InvalidOutput");
    call("SendTaskSuccess", token.with("output", "\"gold\""));
    EXPECT_EQ(text_in(describe_ended(execution), "output"), "\"gold\"");
    EXPECT_EQ(refused("SendTaskFailure", token), "TaskTimedOut");
    EXPECT_EQ(refused("SendTaskHeartbeat", Value::object({{"taskToken", "x"}})), "InvalidToken");

    EXPECT_EQ(text_in(call("DescribeActivity", named), "name"), "dig");
    EXPECT_EQ(call("ListActivities", Value::object({})).find("activities")->size(), 1U);
    call("DeleteActivity", named);
    EXPECT_EQ(refused("GetActivityTask", named), "ActivityDoesNotExist");
}

TEST_F(ApiTest, TakesAnswersByTaskTokens) {
    // A function that hands its payload to a worker: so the test gets the token.
    functions_.put("default", "ask", {}).value();
    auto arn = create("approve", "ask");
    auto token_of = [&](const std::string& execution) {
        auto tasks = std::promise<std::vector<connector::poll::Task>>{};
        auto withdraw =
            queues_->ask({.space = "default", .function = "ask", .wait = std::chrono::seconds{60}},
                         [&](auto given) { tasks.set_value(std::move(given)); });
        auto task = tasks.get_future().get().at(0);
        auto answered = std::promise<void>{};
        engine_->answer(task.token, {}, [&](const auto&) { answered.set_value(); });
        answered.get_future().wait();
        EXPECT_EQ(task.run, "approve:" + execution);
        return Value::object({{"taskToken", text_in(task.input, "token")}});
    };
    auto yes = start(arn, "yes");
    auto token = token_of("yes");

    call("SendTaskHeartbeat", token);
    call("SendTaskSuccess", token.with("output", R"({"approved":true})"));
    EXPECT_EQ(text_in(describe_ended(yes), "output"), R"({"approved":true})");
    EXPECT_EQ(refused("SendTaskSuccess", token.with("output", "1")), "TaskTimedOut");
    auto no = start(arn, "no");
    call("SendTaskFailure", token_of("no").with("error", "Refused").with("cause", "too much"));
    auto ended = describe_ended(no);
    EXPECT_EQ(text_in(ended, "status"), "FAILED");
    EXPECT_EQ(text_in(ended, "error"), "Refused");
    EXPECT_EQ(text_in(ended, "cause"), "too much");
}

TEST_F(ApiTest, TellsTheHistoryOfAnExecution) {
    auto execution = start(create("orders"), "one");
    describe_ended(execution);
    auto named = Value::object({{"executionArn", execution}});

    auto all = call("GetExecutionHistory", named);
    auto events = all.find("events")->as_list();
    ASSERT_EQ(events.size(), 4U);
    EXPECT_EQ(text_in(events[1], "type"), "PassStateEntered");
    EXPECT_EQ(text_in(value_in(events[1], "stateEnteredEventDetails"), "name"), "A");
    EXPECT_EQ(text_in(value_in(events[3], "executionSucceededEventDetails"), "output"), "7");
    auto bare = call("GetExecutionHistory", named.with("includeExecutionData", false));
    auto details = value_in(bare.find("events")->as_list()[3], "executionSucceededEventDetails");
    EXPECT_EQ(details.find("output"), nullptr);
    auto last = call("GetExecutionHistory", named.with("reverseOrder", true).with("maxResults", 3));
    EXPECT_EQ(text_in(last.find("events")->as_list()[0], "type"), "ExecutionSucceeded");
    auto rest =
        call("GetExecutionHistory",
             named.with("reverseOrder", true).with("nextToken", text_in(last, "nextToken")));
    ASSERT_EQ(rest.find("events")->size(), 1U);
    EXPECT_EQ(text_in(rest.find("events")->as_list()[0], "type"), "ExecutionStarted");
}

TEST_F(ApiTest, TellsWhatIsWrongWithADefinition) {
    auto wrong =
        call("ValidateStateMachineDefinition", Value::object({{"definition", R"({"States":{}})"}}));
    EXPECT_EQ(text_in(wrong, "result"), "FAIL");
    EXPECT_GT(wrong.find("diagnostics")->size(), 0U);
    auto right =
        call("ValidateStateMachineDefinition", Value::object({{"definition", definition("end")}}));
    EXPECT_EQ(text_in(right, "result"), "OK");
    auto body = machine("asks", "ask").with("type", "EXPRESS");
    EXPECT_EQ(refused("CreateStateMachine", body), "InvalidDefinition");
}

TEST_F(ApiTest, TestsAStateWithItsFunctionOrAMock) {
    functions_.put("default", "ask", {}).value();
    auto state = Value::object({{"Type", "Task"},
                                {"Resource", "arn:aws:lambda:us-east-1:123456789012:function:ask"},
                                {"Next", "Later"}});
    auto body = Value::object({{"definition", value::to_json(state)}, {"input", "[1]"}});
    auto mock = Value::object({{"result", "\"mocked\""}});

    auto mocked = call("TestState", body.with("mock", mock).with("inspectionLevel", "DEBUG"));
    EXPECT_EQ(text_in(mocked, "output"), "\"mocked\"");
    EXPECT_EQ(text_in(mocked, "nextState"), "Later");
    EXPECT_EQ(text_in(value_in(mocked, "inspectionData"), "afterInputPath"), "[1]");
    auto withdraw = queues_->ask(
        {.space = "default", .function = "ask", .wait = std::chrono::seconds{60}},
        [&](const auto& tasks) {
            engine_->answer(tasks.at(0).token, {.result = tasks.at(0).input}, [](const auto&) {});
        });
    EXPECT_EQ(text_in(call("TestState", body), "output"), "[1]");
    auto both = mock.with("errorOutput", Value::object({{"error", "E"}}));
    EXPECT_EQ(refused("TestState", body.with("mock", both)), "ValidationException");
    auto nameless = Value::object({{"errorOutput", Value::object({{"cause", "why"}})}});
    EXPECT_EQ(refused("TestState", body.with("mock", nameless)), "ValidationException");
    auto negative = Value::object({{"retrierRetryCount", -1}});
    EXPECT_EQ(refused("TestState", body.with("mock", mock).with("stateConfiguration", negative)),
              "ValidationException");
    EXPECT_EQ(refused("TestState", body.with("input", "{")), "InvalidExecutionInput");
    EXPECT_EQ(refused("TestState", body.with("definition", "{}")), "InvalidDefinition");
}

TEST_F(ApiTest, TagsMachinesAndActivities) {
    auto machine_arn = create("orders");
    auto activity =
        text_in(call("CreateActivity", Value::object({{"name", "dig"}})), "activityArn");
    for (const auto& arn : {machine_arn, activity}) {
        auto named = Value::object({{"resourceArn", arn}});
        auto tag = Value::object({{"key", "team"}, {"value", "blue"}});
        call("TagResource", named.with("tags", Value::list({tag})));
        EXPECT_EQ(*call("ListTagsForResource", named).find("tags"), Value::list({tag}));
        call("UntagResource", named.with("tagKeys", Value::list({Value{"team"}})));
        EXPECT_EQ(call("ListTagsForResource", named).find("tags")->size(), 0U);
    }
    EXPECT_EQ(refused("ListTagsForResource",
                      Value::object({{"resourceArn", ArnMaker{}.machine("none")}})),
              "ResourceNotFound");
}

} // namespace
} // namespace sluice::server::stepfunctions
