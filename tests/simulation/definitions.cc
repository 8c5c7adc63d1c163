#include <array>

#include "value/json.h"
#include "workflow/asl/compile.h"
#include "workflow/asl/vocabulary.h"
#include "workload.h"

// The definitions that runs are made of: one for each thing an engine may lose. Sizes that are
// written here stand in workload.cc too.
namespace sluice::simulation {

namespace {

constexpr auto texts = std::to_array<const char*>({
    R"({"name":"join","triggers":[
            {"id":"begin","on":"sluice.run.started",
             "action":{"set":{"triggers":{"joined":{"n":"${run.input.n}"}}}}},
            {"id":"joined","on":"item","condition":{"count":{}},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
    R"({"name":"rounds","context":{"rounds":0},"triggers":[
            {"id":"round","on":"item","lifetime":"persistent",
             "condition":{"count":{"n":3,"distinct":"data.k"}},
             "action":[{"set":{"run":{"rounds":"${run.context.rounds + 1}"}}},{"emit":"round"}]},
            {"id":"last","on":"round","condition":{"count":4},
             "action":{"finish":{"result":"${run.context.rounds}"}}}]})",
    R"({"name":"tasks","triggers":[
            {"id":"begin","on":"sluice.run.started",
             "action":{"invoke":{"function":"flaky","input":"${run.input}","subject":"one"}}},
            {"id":"second","on":{"type":"sluice.task.succeeded","subject":"one"},
             "action":{"invoke":{"function":"work","input":"${data.result}","subject":"two"}}},
            {"id":"third","on":{"type":"sluice.task.succeeded","subject":"two"},
             "action":{"invoke":{"function":"flaky","input":"${data.result}","subject":"three",
                                 "retry":{"attempts":9,"interval":"20ms","backoff":1}}}},
            {"id":"end","on":{"type":"sluice.task.succeeded","subject":"three"},
             "action":{"finish":{"result":"${data.result}"}}}]})",
    R"({"name":"fan","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"set":{"triggers":{"all":{"n":"${run.input.n}"}}}},
                {"invoke":{"function":"work","each":"${run.input.n}","input":"${index}",
                           "scope":"part/${index}","subject":"part"}}]},
            {"id":"part","on":{"type":"sluice.task.succeeded","subject":"part"},
             "action":[{"emit":{"type":"part.done","scope":"/"}},"close"]},
            {"id":"all","on":"part.done","condition":{"count":{}},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
    R"({"name":"race","triggers":[
            {"id":"begin","on":"sluice.run.started",
             "action":{"invoke":{"function":"work","each":"${run.input.n}","scope":"race/${index}","subject":"racer"}}},
            {"id":"racer","on":{"type":"sluice.task.succeeded","subject":"racer"},
             "action":{"emit":{"type":"arrived","scope":"/"}}},
            {"id":"won","on":"arrived","condition":{"count":2},
             "action":[{"close":"/race"},{"schedule":{"timer":"rest","after":"300ms"}}]},
            {"id":"end","on":{"type":"sluice.timer.fired","subject":"rest"},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
    R"({"name":"timers","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"schedule":{"timer":"tick","every":"200ms","type":"tick"}},
                {"schedule":{"timer":"never","after":"100h"}},
                {"schedule":{"timer":"then","at":"${run.input.at}","type":"then"}}]},
            {"id":"ticks","on":"tick","condition":{"count":3},"action":[{"cancel":"tick"},{"emit":"ticked"}]},
            {"id":"end","on":["ticked","then"],"condition":"all","action":{"finish":{"result":"rang"}}}]})",
    R"({"name":"child","triggers":[
            {"id":"begin","on":"sluice.run.started",
             "action":{"invoke":{"function":"work","input":"${run.input}"}}},
            {"id":"end","on":"sluice.task.succeeded","action":{"finish":{"result":"${data.result}"}}}]})",
    R"({"name":"nested","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"set":{"triggers":{"all":{"n":"${run.input.n}"}}}},
                {"start":{"definition":"child","each":"${run.input.n}","input":"${index}"}}]},
            {"id":"all","on":"sluice.run.succeeded","condition":{"count":{"distinct":"data.run"}},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
    R"({"name":"spread","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"set":{"triggers":{"all":{"n":"${run.input.n}"}}}},
                {"start":{"definition":"child","each":"${run.input.n}","input":"${index}","spread":true}}]},
            {"id":"all","on":"sluice.run.succeeded","condition":{"count":{"distinct":"data.run"}},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
    R"({"name":"held","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"set":{"triggers":{"items":{"n":"${run.input.n}"}}}},"hold",{"invoke":"flaky"}]},
            {"id":"answered","on":"sluice.task.succeeded","action":"release"},
            {"id":"items","on":"item","condition":{"count":{}},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
    R"({"name":"parked","triggers":[
            {"id":"items","on":"item","enabled":false,"condition":{"count":{}},
             "action":{"finish":{"result":"${run.input.n}"}}},
            {"id":"gate","on":"open","action":[
                {"set":{"triggers":{"items":{"n":"${run.input.n}"}}}},{"enable":"items"}]}]})",
    R"({"name":"kept","triggers":[
            {"id":"gate","on":"open","action":{"add":{"id":"added","on":"item","condition":{"count":5},
             "action":{"finish":{"result":5}}}}}]})",
    R"({"name":"summed","dedupe":"none","context":{"sum":0},"triggers":[
            {"id":"each","on":"item","lifetime":"persistent",
             "action":{"set":{"run":{"sum":"${run.context.sum + 1}"}}}},
            {"id":"end","on":"end","action":{"finish":{"result":"${run.context.sum}"}}}]})",
    R"({"name":"pressed","dedupe":"none","context":{"sum":0},"kept":{"max":3,"full":"back-pressure"},
        "triggers":[
            {"id":"each","on":"item","lifetime":"persistent","enabled":false,
             "action":{"set":{"run":{"sum":"${run.context.sum + 1}"}}}},
            {"id":"gate","on":"open","action":{"enable":["each","end"]}},
            {"id":"end","on":"end","enabled":false,"action":{"finish":{"result":"${run.context.sum}"}}}]})",
    R"({"name":"slices","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"set":{"triggers":{"all":{"n":"${run.input.n}"}}}},
                {"emit":{"type":"one","each":"${run.input.n}"}}]},
            {"id":"all","on":"one","condition":{"count":{}},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
    R"({"name":"sender","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"set":{"triggers":{"all":{"n":"${run.input.n}"}}}},
                {"emit":{"type":"item","each":"${run.input.n}","to":{"run":"${run.input.to}"}}},
                {"emit":{"type":"sent","each":"${run.input.n}"}}]},
            {"id":"all","on":"sent","condition":{"count":{}},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
    R"({"name":"teller","context":{"told":0},"triggers":[
            {"id":"gate","on":"open","action":[{"set":{"triggers":{"all":{"n":"${run.input.n}"}}}},
                {"enable":["each","all"]}]},
            {"id":"each","on":"ask","enabled":false,"lifetime":"persistent","action":[
                {"set":{"run":{"told":"${run.context.told + 1}"}}},{"reply":"${run.context.told}"}]},
            {"id":"all","on":"ask","enabled":false,"condition":{"count":{}},
             "action":{"finish":{"result":"${run.context.told}"}}}]})",
    R"({"name":"asker","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"set":{"triggers":{"all":{"n":"${run.input.n}"}}}},
                {"emit":{"type":"ask","each":"${run.input.n}","to":{"run":"${run.input.to}"}}}]},
            {"id":"all","on":"sluice.reply",
             "condition":{"count":{"distinct":"data.reply"}},
             "action":{"finish":{"result":"${run.input.n}"}}}]})",
    R"({"name":"patient","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"invoke":"flaky"},{"start":{"definition":"stuck","spread":true}}]},
            {"id":"answered","on":"sluice.task.succeeded"}]})",
    R"({"name":"noted","triggers":[{"id":"begin","on":"sluice.run.started","action":[
            {"emit":{"type":"note","to":{"sink":"flaky"}}},{"emit":{"type":"note","to":{"sink":"work"}}},
            "finish"]}]})",
    R"({"name":"generations","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"invoke":{"function":"work","each":4,"scope":"race/${index}","subject":"racer"}},
                {"start":{"definition":"stuck","spread":true}},
                {"schedule":{"timer":"never","after":"100h"}}]},
            {"id":"arrived","on":{"type":"sluice.task.succeeded","subject":"racer"},
             "action":{"emit":{"type":"arrived","scope":"/"}}},
            {"id":"next","on":"arrived","filter":"run.generation < run.input.n",
             "action":{"continue":{"context":{"from":"${run.generation}"}}}},
            {"id":"last","on":"arrived","filter":"run.generation == run.input.n","action":[
                {"close":"/race"},{"set":{"triggers":{"items":{"n":3}}}},{"enable":"items"}]},
            {"id":"items","on":"item","enabled":false,"condition":{"count":{}},
             "action":{"finish":{"result":"${run.context.from + 1}"}}}]})",
    R"({"name":"reopened","timeout":"100h","triggers":[
            {"id":"begin","on":"sluice.run.started","action":[
                {"invoke":{"function":"work","each":7,"scope":"part/${index}","subject":"part"}},
                {"schedule":{"timer":"never","after":"100h"}}]},
            {"id":"part","on":{"type":"sluice.task.succeeded","subject":"part"},"filter":"run.generation == 1",
             "action":{"finish":{"error":"refused"}}},
            {"id":"again","on":"sluice.run.reopened","lifetime":"persistent",
             "action":{"invoke":{"function":"flaky","subject":"last"}}},
            {"id":"end","on":{"type":"sluice.task.succeeded","subject":"last"},
             "action":{"finish":{"result":"${run.generation}"}}}]})",
    R"({"name":"turns","strategy":"sequential","triggers":[
            {"id":"begin","on":"sluice.run.started",
             "action":{"invoke":{"function":"flaky","input":"${run.input}"}}},
            {"id":"end","on":"sluice.task.succeeded","action":{"finish":{"result":"${data.result}"}}}]})",
    R"({"name":"redone","strategy":{"parallel":2},"timeout":"100h","triggers":[
            {"id":"begin","on":"sluice.run.started","action":{"invoke":{"function":"work","subject":"first"}}},
            {"id":"first","on":{"type":"sluice.task.succeeded","subject":"first"},
             "action":{"finish":{"error":"refused"}}},
            {"id":"again","on":"sluice.run.reopened","lifetime":"persistent",
             "action":{"invoke":{"function":"flaky","subject":"last"}}},
            {"id":"end","on":{"type":"sluice.task.succeeded","subject":"last"},
             "action":{"finish":{"result":"${run.generation}"}}}]})",
    R"({"name":"withdrawn","strategy":"sequential","triggers":[{"id":"never","on":"nothing"}]})",
    R"({"name":"first","strategy":"first_only","triggers":[
            {"id":"begin","on":"sluice.run.started","action":{"invoke":{"function":"work","input":"${run.input}"}}},
            {"id":"end","on":"sluice.task.succeeded","action":{"finish":{"result":"${data.result}"}}}]})",
    R"({"name":"last","strategy":"last_only","triggers":[
            {"id":"begin","on":"sluice.run.started","action":{"invoke":{"function":"work","input":"${run.input}"}}},
            {"id":"end","on":"sluice.task.succeeded","action":{"finish":{"result":"${data.result}"}}}]})",
    R"({"name":"latest","strategy":"latest_only","triggers":[
            {"id":"begin","on":"sluice.run.started","action":{"invoke":{"function":"work","input":"${run.input}"}}},
            {"id":"end","on":"sluice.task.succeeded","action":{"finish":{"result":"${data.result}"}}}]})",
    R"({"name":"stuck","triggers":[{"id":"never","on":"nothing"}]})",
    R"({"name":"hasty","timeout":"3s","triggers":[{"id":"never","on":"nothing"}]})",
});

/// A map whose items are done two at a time, branches of which one waits and one is tried again,
/// and a loop.
constexpr auto machine_text = std::string_view{R"json({"StartAt":"Each","States":{
    "Each":{"Type":"Map","ItemsPath":"$.items","MaxConcurrency":2,"ResultPath":"$.each","Next":"Both",
        "ItemProcessor":{"StartAt":"Item","States":{"Item":{"Type":"Task","End":true,
            "Resource":"arn:aws:lambda:us-east-1:123456789012:function:work"}}}},
    "Both":{"Type":"Parallel","ResultPath":"$.both","Next":"Round","Branches":[
        {"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Seconds":1,"End":true}}},
        {"StartAt":"Tried","States":{"Tried":{"Type":"Task","End":true,
            "Resource":"arn:aws:lambda:us-east-1:123456789012:function:flaky",
            "Retry":[{"ErrorEquals":["flaky"],"IntervalSeconds":1,"MaxAttempts":60,"BackoffRate":1}]}}}]},
    "Round":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:123456789012:function:work",
        "Parameters":{"left.$":"States.MathAdd($.round.left, -1)"},"ResultPath":"$.round","Next":"More"},
    "More":{"Type":"Choice","Default":"End",
        "Choices":[{"Variable":"$.round.left","NumericGreaterThan":0,"Next":"Round"}]},
    "End":{"Type":"Pass","OutputPath":"$.each","End":true}}})json"};

} // namespace

trigger::Vocabulary make_vocabulary() {
    auto vocabulary = trigger::Vocabulary{};
    workflow::asl::add_vocabulary(vocabulary);
    return vocabulary;
}

std::vector<std::string> definitions() {
    auto all = std::vector<std::string>{texts.begin(), texts.end()};
    auto machine =
        workflow::asl::compile(value::parse_json(machine_text).value(), {.name = "machine"});
    all.push_back(value::to_json(machine.form));
    return all;
}

} // namespace sluice::simulation
