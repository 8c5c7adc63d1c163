#include "sluice/serve/function_registry.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "connector/broker/form.h"
#include "secret/secrets.h"

namespace sluice::app {

namespace {

using server::Problem;
using workflow::raw::FunctionForm;
using workflow::raw::FunctionKind;

Value view_of_shared(std::string_view name, FunctionKind kind) {
    return Value::object({{"function", name}, {"kind", to_string(kind)}, {"origin", "operator"}});
}

/// What stands in a header may be a secret.
Value masked(const Value& headers) {
    auto shown = std::vector<value::Member>{};
    for (const auto& [name, value] : headers.as_map()) {
        shown.push_back({name, Value{"…"}});
    }
    return Value::map(std::move(shown));
}

/// Whoever could name one would have it sent wherever he likes.
bool names_secret(const FunctionForm& form) {
    auto names = [](const auto& field) { return secret::Secrets::has_reference(field.second); };
    return secret::Secrets::has_reference(form.url) || std::ranges::any_of(form.headers, names) ||
           std::ranges::any_of(form.environment, names);
}

/// Some services take a key there.
std::string without_query(std::string url) {
    auto query = url.find('?');
    return query == std::string::npos ? url : url.substr(0, query) + "?…";
}

Value view_of_document(const server::Document& document) {
    auto form = workflow::raw::read_function(document.name, document.content);
    auto kind = form ? form->kind : FunctionKind::Builtin;
    auto content = kind == FunctionKind::Broker ? connector::broker::masked(document.content)
                                                : document.content;
    auto view =
        content.with("function", document.name).with("kind", to_string(kind)).with("origin", "api");
    const auto* url = view.find("url");
    if (kind != FunctionKind::Broker && url != nullptr && url->is_string()) {
        view = view.with("url", without_query(std::string{url->as_string()}));
    }
    const auto* headers = view.find("headers");
    return headers != nullptr && headers->is_map() ? view.with("headers", masked(*headers)) : view;
}

Problem invalid_function(std::vector<Value> findings) {
    return {.status = 422,
            .code = "invalid_function",
            .detail = "the function has mistakes: see findings",
            .more = Value::object({{"findings", Value::list(std::move(findings))}})};
}

Problem forbidden(std::string detail) {
    return {.status = 403, .code = "forbidden", .detail = std::move(detail)};
}

} // namespace

FunctionRegistry::FunctionRegistry(server::Documents& documents, Functions& functions,
                                   const std::vector<FunctionForm>& operators,
                                   FunctionLimits limits)
    : documents_(documents), functions_(functions), limits_(limits) {
    for (const auto& [name, function] : functions.table().shared) {
        shared_.emplace(name, FunctionKind::Builtin);
    }
    for (const auto& form : operators) {
        shared_.insert_or_assign(form.name, form.kind);
    }
}

void FunctionRegistry::load(observe::Diagnostics& diagnostics) {
    for (const auto& document : documents_.list(document_kind)) {
        auto form = read(document.space, document.name, document.content);
        auto added = form ? functions_.add(document.space, *form) : Result<void>{};
        if (!form || !added) {
            diagnostics.warn("a stored function cannot be used",
                             {{"namespace", document.space},
                              {"function", document.name},
                              {"why", form ? added.error().message : form.error().detail}});
        }
    }
}

void FunctionRegistry::attach(engine::Engine& engine) {
    auto lock = std::lock_guard{mutex_};
    engine_ = &engine;
}

void FunctionRegistry::follow(const std::string& space, const std::string& name,
                              observe::Diagnostics& diagnostics) {
    auto lock = std::lock_guard{mutex_};
    auto document = documents_.find(document_kind, space, name);
    auto form = document ? read(space, name, document->content)
                         : std::expected<FunctionForm, Problem>{
                               std::unexpected(Problem{.detail = "it was removed"})};
    auto made = form ? functions_.make(*form)
                     : Result<engine::Function>{fail(Errc::NotFound, "{}", form.error().detail)};
    if (made) {
        engine_->set_function(space, name, *std::move(made));
        return;
    }
    engine_->remove_function(space, name);
    if (document) {
        diagnostics.warn("a function that was set up elsewhere cannot be used here",
                         {{"namespace", space}, {"function", name}, {"why", made.error().message}});
    }
}

KnownFunctions FunctionRegistry::known() const {
    auto known = KnownFunctions{};
    for (const auto& [name, kind] : shared_) {
        known.add({.name = name, .kind = kind});
    }
    for (const auto& document : documents_.list(document_kind)) {
        if (auto form = workflow::raw::read_function(document.name, document.content)) {
            known.add(*form);
        }
    }
    if (!limits_.allows_process) {
        known.refused_tasks.emplace(
            "script",
            "a server runs scripts of definitions only where its operator allows it, by the "
            "setting "
            "allow_process (serve --allow-process): call a function that is set up there");
    }
    return known;
}

std::expected<FunctionForm, Problem> FunctionRegistry::read(const std::string& space,
                                                            const std::string& name,
                                                            const Value& form) const {
    auto read = workflow::raw::read_function(name, form);
    if (!read) {
        auto findings = std::vector<Value>{};
        for (const auto& problem : read.error()) {
            findings.push_back(
                Value::object({{"path", problem.path}, {"message", problem.message}}));
        }
        return std::unexpected(invalid_function(std::move(findings)));
    }
    if (read->kind == FunctionKind::Process && !limits_.allows_process) {
        return std::unexpected(forbidden(
            "a function that runs commands on this host is the operator's to define: in the file "
            "of serve --functions"));
    }
    if (read->is_private && !limits_.allows_private) {
        return std::unexpected(forbidden(
            "allow_private is the operator's to give: in the file of serve --functions, or for all "
            "functions by serve --allow-private"));
    }
    if (names_secret(*read)) {
        return std::unexpected(
            forbidden("secrets are the operator's to give: in the file of serve --functions"));
    }
    read->is_private = limits_.allows_private;
    read->secret_scope = space;
    return *std::move(read);
}

std::expected<Value, Problem> FunctionRegistry::put(const std::string& space,
                                                    const std::string& name, const Value& form) {
    if (shared_.contains(name)) {
        return std::unexpected(Problem{
            .status = 409,
            .code = "already_exists",
            .detail =
                fmt::format("\"{}\" is built in or the operator's: take another name", name)});
    }
    auto read = this->read(space, name, form);
    if (!read) {
        return std::unexpected(std::move(read.error()));
    }
    auto lock = std::lock_guard{mutex_};
    auto made = functions_.make(*read);
    if (!made) {
        return std::unexpected(server::problem_of(made.error()));
    }
    auto document = server::Document{.space = space, .name = name, .content = form};
    if (auto kept = documents_.put(document_kind, document); !kept) {
        return std::unexpected(server::problem_of(kept.error()));
    }
    engine_->set_function(space, name, *std::move(made));
    if (read->kind != FunctionKind::Poll) {
        functions_.queues().drop(space, name);
    }
    return view_of_document(document);
}

std::expected<void, Problem> FunctionRegistry::remove(const std::string& space,
                                                      const std::string& name) {
    if (shared_.contains(name)) {
        return std::unexpected(
            Problem{.status = 409,
                    .code = "conflict",
                    .detail = fmt::format("\"{}\" is built in or the operator's", name)});
    }
    auto lock = std::lock_guard{mutex_};
    if (auto removed = documents_.remove(document_kind, space, name); !removed) {
        return std::unexpected(
            removed.error().code == Errc::NotFound
                ? Problem{.status = 404,
                          .code = "not_found",
                          .detail = fmt::format("there is no function \"{}\"", name)}
                : server::problem_of(removed.error()));
    }
    engine_->remove_function(space, name);
    functions_.queues().drop(space, name);
    return {};
}

std::optional<Value> FunctionRegistry::find(std::string_view space, std::string_view name) const {
    if (auto shared = shared_.find(name); shared != shared_.end()) {
        return view_of_shared(name, shared->second);
    }
    auto document = documents_.find(document_kind, space, name);
    return document ? std::optional{view_of_document(*document)} : std::nullopt;
}

std::vector<Value> FunctionRegistry::list(std::string_view space) const {
    auto views = std::map<std::string, Value, std::less<>>{};
    for (const auto& document : documents_.list(document_kind, space)) {
        views.emplace(document.name, view_of_document(document));
    }
    for (const auto& [name, kind] : shared_) {
        views.try_emplace(name, view_of_shared(name, kind));
    }
    auto listed = std::vector<Value>{};
    for (auto& [name, view] : views) {
        listed.push_back(std::move(view));
    }
    return listed;
}

} // namespace sluice::app
