#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/access.h"
#include "server/route_table.h"
#include "server/services.h"
#include "server/stepfunctions/arn.h"
#include "server/stepfunctions/fault.h"
#include "server/stepfunctions/parameters.h"

namespace sluice::server::stepfunctions {

/// What operations stand on.
struct World {
    const Services& services;
    ArnMaker arns;
    std::mutex changes{}; ///< Held by whoever reads a document and then writes it.
};

struct Call {
    std::string space;
    Value body; ///< Checked.
};

/// Answers one call, once, from any thread.
class Responder {
public:
    explicit Responder(Reply reply) : reply_(std::move(reply)) {}

    void operator()(const Answer& answer) const;
    void when_gone(std::function<void()> call) const { reply_->when_gone(std::move(call)); }

private:
    Reply reply_;
};

/// Done on a worker: it may wait for the store.
using Blocking = Answer (*)(World&, const Call&);
/// Never waits; what it waits for calls back.
using Waiting = void (*)(World&, const Call&, const Responder&);

struct Operation {
    std::string_view name;
    Policy policy;
    std::vector<Parameter> parameters;
    std::variant<Blocking, Waiting> work;
};

inline constexpr auto reads = Policy{Role::Reader, true, false};
inline constexpr auto changes = Policy{Role::Operator, true, true};
/// What the history of an execution tells anyway, or comes often.
inline constexpr auto works = Policy{Role::Operator, true, false};

inline constexpr auto optional = Parameter::Need::Optional;
inline constexpr auto required = Parameter::Need::Required;
Parameter arn_parameter(std::string_view name, Parameter::Need need = required);
Parameter text_parameter(std::string_view name, std::uint64_t most,
                         Parameter::Need need = optional);
Parameter choice_parameter(std::string_view name, std::vector<std::string_view> choices);
/// `maxResults` and `nextToken`.
std::vector<Parameter> with_page(std::vector<Parameter> parameters);

inline constexpr auto definition_characters_max = std::uint64_t{1'048'576};

std::vector<Operation> machine_operations();
std::vector<Operation> definition_operations();
std::vector<Operation> version_operations();
std::vector<Operation> alias_operations();
std::vector<Operation> tag_operations();
std::vector<Operation> execution_operations();
std::vector<Operation> execution_list_operations();
std::vector<Operation> history_operations();
std::vector<Operation> activity_operations();
std::vector<Operation> task_operations();
std::vector<Operation> map_run_operations();
std::vector<Operation> test_state_operations();

} // namespace sluice::server::stepfunctions
