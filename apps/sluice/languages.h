#pragma once

#include <expected>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/token.h"
#include "trigger/trigger_set.h"
#include "workflow/raw/compile.h"
#include "workflow/raw/finding.h"
#include "workflow/raw/parse.h"

namespace sluice::app {

using Findings = std::vector<workflow::raw::Finding>;

/// The conditions and actions of the kernel and of every language that definitions are written in.
trigger::Vocabulary make_vocabulary();
/// The same for runs of a store, whose secret seals what they hand out.
trigger::Vocabulary make_vocabulary(const engine::Secret& secret);

/// The functions that a definition may call besides the built-in ones and its own.
struct KnownFunctions {
    std::set<std::string, std::less<>> names{};
    std::set<std::string, std::less<>> pools{};
    bool are_all = false;        ///< Whatever is called is there.
    bool may_come_later = false; ///< Those that a definition cannot declare itself are not missed.
    bool is_express = false;     ///< Of state machines: they run as express ones.
    /// Types of tasks that are not taken here, and why.
    std::map<std::string, std::string, std::less<>> refused_tasks{};

    void add(const workflow::raw::FunctionForm& form) {
        (form.kind == workflow::raw::FunctionKind::Pool ? pools : names).insert(form.name);
    }
};

/// Reads a file as deep as its language may nest.
std::expected<workflow::raw::Document, Findings> parse_document(std::string_view text,
                                                                const std::string& file);

/// What a document says, in whichever language it is; or everything that is wrong with it.
std::expected<workflow::raw::Definition, Findings> read_definition(
    const workflow::raw::Document& document, const trigger::Vocabulary& vocabulary,
    const KnownFunctions& known);

/// What is to be said of a file: everything that is wrong with it, or warnings where its language
/// has them.
Findings check_definition(const std::string& text, const std::string& file,
                          const trigger::Vocabulary& vocabulary, bool is_express);

/// The functions that a document declares which has been read before.
std::vector<workflow::raw::FunctionForm> functions_of(const workflow::raw::Document& document);

/// Those that tasks bring along, of one of the definitions that such a document has.
std::vector<workflow::raw::FunctionForm> task_functions_of(const workflow::raw::Document& document,
                                                           std::string_view definition);

} // namespace sluice::app
