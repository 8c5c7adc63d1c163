#include "trial/internal/reply_reader.h"

#include <utility>

#include <fmt/format.h>

#include "trigger/form_reader.h"

namespace sluice::trial::internal {

namespace {

using trigger::describe;
using trigger::FormReader;
using trigger::join_path;

constexpr auto expected_reply = "one of result, error, never: true or attempts";

event::Answer read_error(const Value& form, const FormReader& reader, const std::string& path,
                         Problems& problems) {
    if (form.is_string() && form.size() > 0) {
        return event::failure(form.as_string(), "as the test says");
    }
    if (!form.is_map()) {
        reader.expect("error", "its kind, or a map of kind, message and detail");
        return {};
    }
    auto inner = FormReader{form, path, problems, {"kind", "message", "detail"}};
    auto kind = inner.text("kind").value_or("");
    if (kind.empty()) {
        inner.expect("kind", "the kind of the error");
    }
    const auto* detail = form.find("detail");
    return event::failure(kind, inner.text("message").value_or("as the test says"),
                          detail == nullptr ? Value{} : *detail);
}

Reply read_reply(const Value& form, const std::string& path, Problems& problems, bool is_inner) {
    auto reply = Reply{};
    auto reader =
        FormReader{form, path, problems, {"result", "error", "never", "attempts", "delay", "when"}};
    if (!form.is_map()) {
        return reply;
    }
    auto given = 0;
    for (const auto* name : {"result", "error", "never", "attempts"}) {
        given += form.find(name) != nullptr ? 1 : 0;
    }
    if (given != 1) {
        trigger::report(problems, path,
                        fmt::format("a reply is one thing: expected {}, found {} of them",
                                    expected_reply, given));
        return reply;
    }
    reply.delay = reader.duration("delay").value_or(Nanos{0});
    if (const auto* when = form.find("when")) {
        reply.when = *when;
    }
    if (const auto* result = form.find("result")) {
        reply.answer.result = *result;
    } else if (const auto* error = form.find("error")) {
        reply.answer = read_error(*error, reader, join_path(path, "error"), problems);
    } else if (const auto* never = form.find("never")) {
        reply.kind = Reply::Kind::Never;
        if (*never != Value{true}) {
            reader.expect("never", "true: it does not answer");
        }
    } else if (const auto* attempts = form.find("attempts"); is_inner) {
        reader.report("attempts",
                      "attempts are replies themselves: expected result, error or "
                      "never: true");
    } else if (!attempts->is_list() || attempts->size() == 0) {
        reader.expect("attempts", "a list of replies, the first for the first attempt");
    } else {
        reply.kind = Reply::Kind::Attempts;
        for (auto at = std::size_t{0}; at < attempts->size(); ++at) {
            reply.attempts.push_back(read_reply(attempts->as_list()[at],
                                                join_path(join_path(path, "attempts"), at),
                                                problems, true));
        }
    }
    return reply;
}

} // namespace

Replies read_replies(const Value& section, const std::string& path, Problems& problems) {
    auto replies = Replies{};
    if (!section.is_map()) {
        trigger::report(
            problems, path,
            fmt::format("found {}, expected a map of names to replies", describe(section)));
        return replies;
    }
    for (const auto& [name, form] : section.as_map()) {
        auto place = join_path(path, name);
        auto& given = replies[name];
        if (!form.is_list()) {
            given.push_back(read_reply(form, place, problems, false));
            continue;
        }
        if (form.size() == 0) {
            trigger::report(problems, place, "found an empty list, expected replies");
        }
        for (auto at = std::size_t{0}; at < form.size(); ++at) {
            given.push_back(read_reply(form.as_list()[at], join_path(place, at), problems, false));
        }
    }
    return replies;
}

} // namespace sluice::trial::internal
