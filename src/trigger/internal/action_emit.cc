#include "expr/cel/template.h"
#include "trigger/firing.h"
#include "trigger/internal/actions.h"
#include "trigger/internal/params.h"

namespace sluice::trigger::actions {

namespace {

class Emit final : public Action {
public:
    enum class To : std::uint8_t { Own, Run, Sink };

    expr::cel::Template type;
    expr::cel::Template subject;
    expr::cel::Template data;
    expr::cel::Template scope;
    expr::cel::Template target;
    To to = To::Own;
    std::optional<expr::cel::Template> each;

    Attempt<void> perform(Firing& firing) const override {
        if (!each) {
            return emit_one(firing);
        }
        auto slice = TRY(firing.slice(*each));
        for (auto at = slice.begin; at < slice.end; ++at) {
            firing.set_item(at, slice.items);
            TRY(emit_one(firing));
        }
        firing.finish_slice(slice);
        return {};
    }

private:
    Attempt<void> emit_one(Firing& firing) const {
        auto outgoing = Firing::Outgoing{};
        outgoing.type = TRY(firing.evaluate_text(type, "type"));
        if (outgoing.type.empty() || outgoing.type.starts_with(types::reserved_prefix)) {
            return std::unexpected(expr::Fault{
                .code = "invalid_type",
                .message = fmt::format("\"{}\" is no type to emit: expected a text that does not "
                                       "begin with sluice.",
                                       outgoing.type)});
        }
        outgoing.subject = TRY(firing.evaluate_text(subject, "subject"));
        outgoing.data = TRY(firing.evaluate(data));
        auto written = TRY(firing.evaluate_text(scope, "scope"));
        if (to != To::Own) {
            outgoing.scope = written;
            auto name = TRY(firing.evaluate_text(target, "to"));
            if (to == To::Run && !is_run_id(name)) {
                return std::unexpected(expr::Fault{
                    .code = "invalid_run", .message = fmt::format("\"{}\" is no run's id", name)});
            }
            firing.send(outgoing, to == To::Sink, name);
            return {};
        }
        outgoing.scope = TRY(firing.scope_path(written));
        auto into = firing.scope();
        if (written.empty()) {
            TRY(firing.require_scope());
        } else {
            into = TRY(firing.open_scope(written, Value{}));
        }
        firing.emit(outgoing, into);
        return {};
    }
};

class Reply final : public Action {
public:
    expr::cel::Template data;

    Attempt<void> perform(Firing& firing) const override {
        auto value = TRY(firing.evaluate(data));
        firing.reply(std::move(value));
        return {};
    }
};

} // namespace

Made make_emit(const Value& params, const ActionSite& site, Problems& problems) {
    auto reader = Params{params,
                         "type",
                         {"type", "subject", "data", "scope", "each", "to"},
                         site.expressions,
                         problems};
    auto action = std::make_shared<Emit>();
    action->type = reader.required_text("type");
    action->subject = reader.text("subject");
    action->data = reader.any("data");
    action->scope = reader.text("scope");
    if (reader.has("each")) {
        action->each = reader.any("each");
    }
    if (reader.has("to")) {
        auto to = reader.inside("to", {"run", "sink"});
        if (to.has("run") == to.has("sink")) {
            reader.problem("to", "expected either run or sink");
            return action;
        }
        action->to = to.has("run") ? Emit::To::Run : Emit::To::Sink;
        action->target = to.required_text(to.has("run") ? "run" : "sink");
    }
    return action;
}

Made make_reply(const Value& params, const ActionSite& site, Problems& problems) {
    auto reader = Params{params, "data", {"data"}, site.expressions, problems};
    auto action = std::make_shared<Reply>();
    action->data = reader.any("data");
    return action;
}

} // namespace sluice::trigger::actions
