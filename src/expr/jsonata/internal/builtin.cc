#include "expr/jsonata/internal/builtin.h"

#include <deque>
#include <unordered_map>

namespace sluice::expr::jsonata::internal {
namespace {

/// All functions by name, with their signatures read once.
class Library {
public:
    Library() {
        for (auto group : {text_builtins(), matching_builtins(), encoding_builtins(),
                           number_builtins(), array_builtins(), object_builtins(), time_builtins(),
                           other_builtins()}) {
            for (const auto& builtin : group) {
                auto& function = functions_.emplace_back();
                function.kind = FunctionKind::Builtin;
                function.builtin = &builtin;
                by_name_.emplace(builtin.name, &function);
                signatures_.emplace(&builtin, Signature::parse(builtin.signature));
            }
        }
    }

    static const Library& instance() {
        static const auto library = Library{};
        return library;
    }

    const Function* find(std::string_view name) const {
        auto found = by_name_.find(name);
        return found == by_name_.end() ? nullptr : found->second;
    }
    const Signature& signature(const Builtin& builtin) const { return signatures_.at(&builtin); }

private:
    std::deque<Function> functions_;
    std::unordered_map<std::string_view, const Function*> by_name_;
    std::unordered_map<const Builtin*, Signature> signatures_;
};

} // namespace

const Function* find_builtin(std::string_view name) {
    return Library::instance().find(name);
}

const Signature& signature_of(const Builtin& builtin) {
    return Library::instance().signature(builtin);
}

} // namespace sluice::expr::jsonata::internal
