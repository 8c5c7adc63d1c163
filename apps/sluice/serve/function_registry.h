#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "observe/diagnostics.h"
#include "server/documents.h"
#include "server/function_setup.h"
#include "sluice/functions.h"
#include "sluice/languages.h"
#include "workflow/raw/function_form.h"

namespace sluice::app {

/// What functions that come through the API may do.
struct FunctionLimits {
    bool allows_process = false; ///< Commands on this host.
    bool allows_private = false; ///< Loopback and private addresses.
};

/// The functions of a server: the operator's, and those of the API, which are documents.
class FunctionRegistry final : public server::FunctionSetup {
public:
    static constexpr auto document_kind = std::string_view{"function"};

    /// All of them outlive it.
    FunctionRegistry(server::Documents& documents, Functions& functions,
                     const std::vector<workflow::raw::FunctionForm>& operators,
                     FunctionLimits limits);

    /// Before the engine is opened, whose first calls need them. One that is no good any more is
    /// said and left out.
    void load(observe::Diagnostics& diagnostics);
    /// From now on changes reach it.
    void attach(engine::Engine& engine);
    /// After another process has changed it; that it is no good here is said.
    void follow(const std::string& space, const std::string& name,
                observe::Diagnostics& diagnostics);
    /// Functions that a definition may name, of every namespace.
    KnownFunctions known() const;

    std::expected<Value, server::Problem> put(const std::string& space, const std::string& name,
                                              const Value& form) override;
    std::expected<void, server::Problem> remove(const std::string& space,
                                                const std::string& name) override;
    std::optional<Value> find(std::string_view space, std::string_view name) const override;
    std::vector<Value> list(std::string_view space) const override;

private:
    std::expected<workflow::raw::FunctionForm, server::Problem> read(const std::string& space,
                                                                     const std::string& name,
                                                                     const Value& form) const;

    server::Documents& documents_;
    Functions& functions_;
    engine::Engine* engine_ = nullptr;
    FunctionLimits limits_;
    std::map<std::string, workflow::raw::FunctionKind, std::less<>>
        shared_;       ///< For all namespaces.
    std::mutex mutex_; ///< Store and engine see changes in the same order.
};

} // namespace sluice::app
