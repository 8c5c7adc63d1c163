#include "workflow/dag/parse.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/nearest.h"
#include "trigger/form_reader.h"

namespace sluice::workflow::dag {

namespace {

using trigger::describe;
using trigger::FormReader;
using trigger::in_quotes;
using trigger::join_path;
using trigger::report;

constexpr auto tasks_max = std::size_t{500'000};
constexpr auto bodies_max = std::size_t{8}; // Scopes nest twice as deep.
constexpr auto name_bytes_max = std::size_t{150};

constexpr std::pair<std::string_view, Rule> rule_names[] = {{"all_success", Rule::AllSuccess},
                                                            {"all_done", Rule::AllDone},
                                                            {"one_success", Rule::OneSuccess},
                                                            {"none_failed", Rule::NoneFailed}};

constexpr std::string_view common_members[] = {"after", "rule",       "when",     "on_error",
                                               "catch", "on_failure", "deadline", "description"};

bool is_task_name(std::string_view name) {
    return !name.empty() && name.size() <= name_bytes_max && name.front() != '(' &&
           std::ranges::none_of(name, [](char letter) {
               return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F || letter == '/';
           });
}

/// Reads the tasks of one flow: those in bodies are read when it meets them.
class FlowReader {
public:
    FlowReader(Flow& flow, const Operators& operators, Problems& problems)
        : flow_(flow), operators_(operators), problems_(problems) {}

    void read(const Value& tasks, const std::string& path) {
        if (!tasks.is_map() || tasks.size() == 0 || tasks.size() > tasks_max) {
            report(problems_, path,
                   fmt::format("found {}, expected a map of 1 to {} names to tasks",
                               tasks.is_map() && tasks.size() > 0
                                   ? fmt::format("{} tasks", tasks.size())
                                   : describe(tasks),
                               tasks_max));
            return;
        }
        auto members = tasks.as_map();
        flow_.tasks.resize(members.size());
        for (auto at = std::uint32_t{0}; at < members.size(); ++at) {
            flow_.tasks[at].name = members[at].key;
            flow_.tasks[at].path = join_path(path, members[at].key);
        }
        for (auto at = std::uint32_t{0}; at < members.size(); ++at) {
            flow_.by_name.emplace(flow_.tasks[at].name, at);
        }
        for (auto at = std::uint32_t{0}; at < members.size(); ++at) {
            read_task(at, members[at].value);
        }
        for (auto& task : flow_.tasks) {
            read_catches(task);
        }
        for (auto at = std::uint32_t{0}; at < members.size(); ++at) {
            settle(at);
        }
    }

private:
    void read_task(std::uint32_t at, const Value& form) {
        auto& task = flow_.tasks[at];
        if (!is_task_name(task.name)) {
            report(problems_, task.path,
                   fmt::format("found the name {}, expected 1 to {} bytes without '/' and control "
                               "characters that do not begin with '('",
                               in_quotes(task.name), name_bytes_max));
        }
        if (!form.is_map()) {
            report(problems_, task.path,
                   fmt::format("found {}, expected a task: a map such as {{call: echo}}",
                               describe(form)));
            return;
        }
        task.form = form;
        task.kind = kind_of(task);
        check_members(task);
        read_after(task);
        read_rule(task);
        auto own = form;
        if (task.kind == "map") {
            if (const auto* map = form.find("map");
                map->is_map() && map->find("tasks") != nullptr) {
                own = form.with("map", map->without("tasks").without("result"));
                read_body(at, *map->find("tasks"));
            }
        }
        read_references(task, own);
    }

    std::string kind_of(const FlowTask& task) {
        auto found = std::vector<std::string_view>{};
        for (const auto& [name, member] : task.form.as_map()) {
            if (operators_.contains(name)) {
                found.emplace_back(name);
            }
        }
        if (found.size() == 1) {
            return std::string{found.front()};
        }
        auto names = std::vector<std::string_view>{};
        for (const auto& [name, kind] : operators_) {
            names.push_back(name);
        }
        auto what = found.empty() ? std::string{"none of them"}
                                  : fmt::format("{}", fmt::join(found, " and "));
        report(problems_, task.path,
               fmt::format("a task does one thing: expected one of {}, found {}",
                           fmt::join(names, ", "), what));
        return {};
    }

    /// In order. Of a task whose type is not known they are those of all.
    const std::vector<std::string_view>& members_of(const std::string& kind) {
        auto& known = members_[kind];
        if (!known.empty()) {
            return known;
        }
        known.assign(std::begin(common_members), std::end(common_members));
        for (const auto& [name, each] : operators_) {
            if (kind.empty() || kind == name) {
                known.emplace_back(name);
                known.insert(known.end(), each.members.begin(), each.members.end());
            }
        }
        std::ranges::sort(known);
        known.erase(std::ranges::unique(known).begin(), known.end());
        return known;
    }

    void check_members(const FlowTask& task) {
        const auto& known = members_of(task.kind);
        for (const auto& [name, member] : task.form.as_map()) {
            if (std::ranges::binary_search(known, name)) {
                continue;
            }
            auto meant = nearest(name, known);
            report(problems_, join_path(task.path, name),
                   meant.empty() ? fmt::format("unknown member {}, expected one of {}",
                                               in_quotes(name), fmt::join(known, ", "))
                                 : fmt::format("unknown member {}: did you mean \"{}\"?",
                                               in_quotes(name), meant));
        }
    }

    std::optional<std::uint32_t> find_task(const Value& name, const std::string& path) {
        if (!name.is_string()) {
            report(problems_, path,
                   fmt::format("found {}, expected the name of a task", describe(name)));
            return std::nullopt;
        }
        if (auto found = flow_.by_name.find(name.as_string()); found != flow_.by_name.end()) {
            return found->second;
        }
        report(problems_, path,
               fmt::format("there is no task {}{}", in_quotes(name.as_string()),
                           suggestion(name.as_string())));
        return std::nullopt;
    }

    std::string suggestion(std::string_view name) const {
        // Looking for what was meant takes long, and nobody reads more than that.
        if (problems_.size() >= trigger::problems_max) {
            return {};
        }
        auto names = std::vector<std::string_view>{};
        for (const auto& task : flow_.tasks) {
            if (names.size() < 1'000) {
                names.emplace_back(task.name);
            }
        }
        auto meant = nearest(name, names);
        return meant.empty() ? std::string{": expected the name of a task beside this one"}
                             : fmt::format(": did you mean \"{}\"?", meant);
    }

    void read_after(FlowTask& task) {
        const auto* after = task.form.find("after");
        if (after == nullptr) {
            return;
        }
        auto path = join_path(task.path, "after");
        auto add = [&](const Value& name, const std::string& place) {
            auto found = find_task(name, place);
            if (!found) {
                return;
            }
            if (seen_.size() < flow_.tasks.size()) {
                seen_.resize(flow_.tasks.size(), UINT32_MAX);
            }
            auto self = static_cast<std::uint32_t>(&task - flow_.tasks.data());
            if (std::exchange(seen_[*found], self) == self) {
                report(
                    problems_, place,
                    fmt::format("found {} again, expected it once", in_quotes(name.as_string())));
                return;
            }
            task.after.push_back(*found);
        };
        if (!after->is_list()) {
            add(*after, path);
            return;
        }
        task.after.reserve(after->size());
        for (auto at = std::size_t{0}; at < after->size(); ++at) {
            add(after->as_list()[at], join_path(path, at));
        }
    }

    void read_rule(FlowTask& task) {
        const auto* rule = task.form.find("rule");
        if (rule == nullptr) {
            return;
        }
        for (const auto& [name, value] : rule_names) {
            if (rule->is_string() && rule->as_string() == name) {
                task.rule = value;
                return;
            }
        }
        const auto* needed = rule->find("k_of_n");
        auto count = needed == nullptr ? std::nullopt : trigger::as_count(*needed);
        if (!count || *count == 0 || rule->size() != 1) {
            report(problems_, join_path(task.path, "rule"),
                   fmt::format("found {}, expected all_success, all_done, one_success, none_failed "
                               "or {{k_of_n: 2}}",
                               describe(*rule)));
            return;
        }
        task.rule = Rule::KOfN;
        task.needed = *count;
    }

    void read_catches(FlowTask& task) {
        const auto* form = task.form.find("catch");
        if (form == nullptr) {
            return;
        }
        auto path = join_path(task.path, "catch");
        auto one = [&](const Value& item, const std::string& place) {
            auto handler = Catch{};
            const auto* name = &item;
            if (item.is_map()) {
                auto reader = FormReader{item, place, problems_, {"on", "task"}};
                name = item.find("task");
                handler.kinds = read_kinds(item, place);
                if (name == nullptr) {
                    reader.expect("task", "the task that handles the error");
                    return;
                }
            }
            if (auto found = find_task(*name, item.is_map() ? join_path(place, "task") : place)) {
                handler.handler = flow_.tasks[*found].name;
                auto self = static_cast<std::uint32_t>(&task - flow_.tasks.data());
                auto& sources = flow_.tasks[*found].caught_for;
                if (sources.empty() || sources.back() != self) {
                    sources.push_back(self);
                }
                task.catches.push_back(std::move(handler));
            }
        };
        if (!form->is_list()) {
            one(*form, path);
            return;
        }
        for (auto at = std::size_t{0}; at < form->size(); ++at) {
            one(form->as_list()[at], join_path(path, at));
        }
    }

    std::vector<std::string> read_kinds(const Value& form, const std::string& path) {
        auto kinds = std::vector<std::string>{};
        const auto* on = form.find("on");
        if (on == nullptr) {
            return kinds;
        }
        auto items = on->is_list() ? std::vector<Value>(on->as_list().begin(), on->as_list().end())
                                   : std::vector<Value>{*on};
        for (const auto& item : items) {
            if (!item.is_string() || item.size() == 0) {
                report(problems_, join_path(path, "on"),
                       fmt::format("found {}, expected kinds of errors such as [timeout, exit]",
                                   describe(item)));
                return kinds;
            }
            kinds.emplace_back(item.as_string());
        }
        return kinds;
    }

    void read_body(std::uint32_t at, const Value& tasks) {
        auto path = flow_.tasks[at].path + "/map/tasks";
        if (flow_.prefixes.size() >= bodies_max) {
            report(problems_, path,
                   fmt::format("found maps nested deeper than {}: expected a subworkflow",
                               bodies_max));
            return;
        }
        flow_.tasks[at].body = std::make_unique<Flow>();
        auto& body = *flow_.tasks[at].body;
        body.prefixes = flow_.prefixes;
        body.prefixes.push_back(flow_.id_of(flow_.tasks[at].name) + ".");
        body.site = flow_.site;
        const auto* as = flow_.tasks[at].form.find("map")->find("as");
        auto name = as != nullptr && as->is_string() ? std::string{as->as_string()} : "item";
        for (auto each : {name, std::string{"index"}}) {
            if (std::ranges::find(body.site.names, each) == body.site.names.end()) {
                body.site.names.push_back(each);
            }
        }
        body.outer = &flow_;
        body.owner = at;
        FlowReader{body, operators_, problems_}.read(tasks, path);
    }

    void read_references(FlowTask& task, const Value& own) {
        auto site = flow_.site;
        if (task.kind == "map") {
            // Those of an item may be named in it too; which is checked with the operator.
            const auto* as = own.find("map")->find("as");
            site.names.emplace_back(as != nullptr && as->is_string() ? as->as_string() : "item");
            site.names.emplace_back("index");
        }
        site.names.insert(site.names.end(), {"result", "event"});
        read_uses(task, own, site);
        if (const auto* when = own.find("when"); when != nullptr && when->is_string()) {
            if (auto text = std::string{when->as_string()}; !text.contains("${")) {
                add_uses(Value{"${" + text + "}"}, site, Handling::LooksInto, task.uses);
            }
        }
        std::erase(task.uses.names, task.name);
    }

    /// A call gets its input as it is; everything else is looked into.
    static void read_uses(FlowTask& task, const Value& own, const ExpressionSite& site) {
        auto is_call = task.kind == "call" || task.kind == "script";
        for (const auto& [name, member] : own.as_map()) {
            if (name != task.kind || !member.is_map()) {
                auto is_input = is_call && name == "input";
                add_uses(member, site, is_input ? Handling::HandsOn : Handling::LooksInto,
                         task.uses);
                continue;
            }
            for (const auto& [part, inner] : member.as_map()) {
                auto is_input = (task.kind == "map" && part == "input") ||
                                (task.kind == "http" && part == "body");
                add_uses(inner, site, is_input ? Handling::HandsOn : Handling::LooksInto,
                         task.uses);
            }
        }
        if (!is_call) {
            add_bare_uses(own, site, task.uses);
        }
    }

    /// Conditions of cases and events stand there without `${…}` too. They order nothing, but what
    /// they look into must be there.
    static void add_bare_uses(const Value& form, const ExpressionSite& site, TaskUses& uses) {
        if (form.is_string() && form.as_string().contains("tasks") &&
            !form.as_string().contains("${")) {
            auto found = TaskUses{};
            add_uses(Value{fmt::format("${{{}}}", form.as_string())}, site, Handling::LooksInto,
                     found);
            std::ranges::move(found.looked_at, std::back_inserter(uses.looked_at));
            uses.looks_at_any |= found.looks_at_any;
        } else if (form.is_list()) {
            for (const auto& item : form.as_list()) {
                add_bare_uses(item, site, uses);
            }
        } else if (form.is_map()) {
            for (const auto& [key, member] : form.as_map()) {
                add_bare_uses(member, site, uses);
            }
        }
    }

    /// Without `after` a task comes behind those it names. A handler waits for whom it handles.
    void settle(std::uint32_t at) {
        auto& task = flow_.tasks[at];
        if (task.is_handler()) {
            task.rule = Rule::Caught;
            for (const auto* member : {"after", "rule"}) {
                if (task.form.find(member) != nullptr) {
                    report(problems_, join_path(task.path, member),
                           fmt::format("task \"{}\" catches its errors here, and this task begins "
                                       "with one: expected no {}",
                                       flow_.tasks[task.caught_for.front()].name, member));
                }
            }
            return;
        }
        // What names stand in JSONata is known only where they are written out: it orders nothing.
        if (flow_.site.language == Language::Cel && task.form.is_map() &&
            task.form.find("after") == nullptr) {
            for (const auto& name : task.uses.names) {
                if (auto found = flow_.by_name.find(name); found != flow_.by_name.end()) {
                    task.after.push_back(found->second);
                }
            }
        }
        if (task.rule == Rule::KOfN && task.needed > task.after.size()) {
            report(problems_, join_path(task.path, "rule"),
                   fmt::format("found {} of {}: the task can never begin, expected at most as many "
                               "as stand in after",
                               task.needed, task.after.size()));
        }
    }

    Flow& flow_;
    const Operators& operators_;
    Problems& problems_;
    std::map<std::string, std::vector<std::string_view>> members_; ///< By type.
    std::vector<std::uint32_t> seen_; ///< By task: who named it last in its `after`.
};

Language read_language(const Value& form, Problems& problems) {
    const auto* lang = form.find("lang");
    if (lang == nullptr || *lang == Value{"cel"}) {
        return Language::Cel;
    }
    if (*lang == Value{"jsonata"}) {
        return Language::Jsonata;
    }
    report(problems, "lang", fmt::format("found {}, expected cel or jsonata", describe(*lang)));
    return Language::Cel;
}

} // namespace

bool is_dag(const Value& form) {
    return form.is_map() && form.find("tasks") != nullptr;
}

std::unique_ptr<Flow> parse(const Value& form, const Operators& operators, Problems& problems) {
    auto flow = std::make_unique<Flow>();
    flow->site = {.language = read_language(form, problems),
                  .names = {"input", "tasks", "context", "run", "now"}};
    const auto* tasks = form.find("tasks");
    FlowReader{*flow, operators, problems}.read(tasks == nullptr ? Value{} : *tasks, "tasks");
    return flow;
}

std::unique_ptr<Flow> parse_body(const Value& tasks, const Flow& outer, std::uint32_t owner,
                                 const Operators& operators, Problems& problems) {
    auto flow = std::make_unique<Flow>();
    flow->prefixes = outer.prefixes;
    flow->prefixes.push_back(outer.id_of(outer.tasks[owner].name) + ".");
    flow->site = outer.site;
    flow->outer = &outer;
    flow->owner = owner;
    FlowReader{*flow, operators, problems}.read(tasks, "tasks");
    return flow;
}

} // namespace sluice::workflow::dag
