#include <utility>

#include "connector/poll/desk.h"
#include "server/stepfunctions/internal/machines.h"
#include "server/stepfunctions/internal/task_word.h"
#include "value/json.h"
#include "workflow/asl/resource_names.h"

// Activities: create, describe, list, delete, and what their workers ask for.
namespace sluice::server::stepfunctions {

namespace {

constexpr Nanos poll_wait = std::chrono::seconds{60};

/// A worker that falls silent is found by the state's own heartbeat and timeout, as the service
/// does: nobody else is offered its task.
Value function_form() {
    return Value::object({{"kind", "poll"}, {"heartbeat", "365d"}, {"offers", 1}});
}

std::expected<Activity, Fault> find_activity(const World& world, const Call& call) {
    auto text = text_in(call.body, "activityArn");
    auto arn = TRY(Arn::parse(text, Arn::Kind::Activity));
    auto document = world.services.documents->find(Activity::kind, call.space, arn.name);
    if (!document) {
        return refuse("ActivityDoesNotExist", "Activity Does Not Exist: '{}'", text);
    }
    return or_fault(Activity::read(*document));
}

Value activity_view(const World& world, const Activity& activity) {
    return Value::object({{"activityArn", world.arns.activity(activity.name)},
                          {"creationDate", seconds_of(activity.created)}});
}

Answer create_activity(World& world, const Call& call) {
    auto name = text_in(call.body, "name");
    if (!is_name(name)) {
        return refuse("InvalidName", "Invalid Name: '{}'", name);
    }
    auto lock = std::lock_guard{world.changes};
    if (auto document = world.services.documents->find(Activity::kind, call.space, name)) {
        return activity_view(world, TRY(or_fault(Activity::read(*document))));
    }
    auto activity = Activity{.name = name,
                             .tags = TRY(with_tags({}, value_in(call.body, "tags"))),
                             .created = world.services.clock.wall()};
    auto put = world.services.functions->put(call.space, workflow::asl::activity_function(name),
                                             function_form());
    if (!put) {
        return refuse("ValidationException", "{}", put.error().detail);
    }
    TRY(or_fault(world.services.documents->put(Activity::kind, activity.to_document(call.space))));
    return activity_view(world, activity);
}

Answer describe_activity(World& world, const Call& call) {
    auto activity = TRY(find_activity(world, call));
    return activity_view(world, activity).with("name", activity.name);
}

Answer delete_activity(World& world, const Call& call) {
    TRY(Arn::parse(text_in(call.body, "activityArn"), Arn::Kind::Activity));
    auto lock = std::lock_guard{world.changes};
    auto activity = find_activity(world, call);
    if (!activity) {
        return Value::object({});
    }
    TRY(or_fault(world.services.documents->remove(Activity::kind, call.space, activity->name)));
    // One that is gone already is no harm.
    static_cast<void>(world.services.functions->remove(
        call.space, workflow::asl::activity_function(activity->name)));
    return Value::object({});
}

Answer list_activities(World& world, const Call& call) {
    auto page = TRY(Page::read(call.body, "activities"));
    auto listed = std::vector<Value>{};
    auto last = std::string{};
    for (const auto& document : world.services.documents->list(Activity::kind, call.space)) {
        if (document.name <= page.after) {
            continue;
        }
        if (listed.size() == page.most) {
            return Value::object({{"activities", Value::list(std::move(listed))},
                                  {"nextToken", page_token("activities", last)}});
        }
        last = document.name;
        auto activity = TRY(or_fault(Activity::read(document)));
        listed.push_back(activity_view(world, activity).with("name", activity.name));
    }
    return Value::object({{"activities", Value::list(std::move(listed))}});
}

/// The history tells who has taken the task, and when: its execution hears of it first.
void hand_over(World& world, const connector::poll::Task& task, const std::string& worker,
               const Responder& respond) {
    auto given = Value::object({{"taskToken", task.token}, {"input", value::to_json(task.input)}});
    auto attempt = world.services.engine.attempt_of(task.token);
    if (!attempt) {
        respond(given);
        return;
    }
    tell_run(world, attempt->run, workflow::asl::begin_action,
             Value::object({{"task", task_of(*attempt)}, {"worker", worker}}),
             [respond, given](const Result<Value>& /*told*/) { respond(given); });
}

/// Waits a minute for a task; an answer without one says that none came.
void get_activity_task(World& world, const Call& call, const Responder& respond) {
    auto activity = find_activity(world, call);
    if (!activity) {
        respond(std::unexpected(activity.error()));
        return;
    }
    auto give = [respond, &world, worker = text_in(call.body, "workerName")](
                    const std::vector<connector::poll::Task>& tasks) {
        if (tasks.empty()) {
            respond(Value::object({}));
        } else {
            hand_over(world, tasks.front(), worker, respond);
        }
    };
    auto withdraw =
        world.services.tasks->ask({.space = call.space,
                                   .function = workflow::asl::activity_function(activity->name),
                                   .most = 1,
                                   .wait = poll_wait},
                                  std::move(give));
    // A worker that died while it waited must not be given the next task.
    if (withdraw) {
        respond.when_gone(std::move(withdraw));
    }
}

} // namespace

std::vector<Operation> activity_operations() {
    auto activity = arn_parameter("activityArn");
    return {{"CreateActivity",
             changes,
             {text_parameter("name", 80, required),
              Parameter{.name = "tags", .kind = Parameter::Kind::List}},
             create_activity},
            {"DescribeActivity", reads, {activity}, describe_activity},
            {"DeleteActivity", changes, {activity}, delete_activity},
            {"ListActivities", reads, with_page({}), list_activities},
            {"GetActivityTask",
             works,
             {activity, text_parameter("workerName", 80)},
             get_activity_task}};
}

} // namespace sluice::server::stepfunctions
