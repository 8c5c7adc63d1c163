#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/exit_code.h"

namespace sluice::cli {

/// What a shell offers for a word.
enum class Completes : std::uint8_t { Nothing, File, Folder, Run };

/// Where the word goes. A `bool` is set by the option alone; an optional text is empty where the
/// option stands without `=VALUE`; a function is called for it.
using Target = std::variant<bool*, std::string*, std::optional<std::string>*,
                            std::vector<std::string>*, std::uint32_t*, std::uint64_t*,
                            std::optional<std::uint64_t>*, std::function<void()>>;

/// An argument or option of a command: help, completion and suggestions come from it.
struct Word {
    std::string name; ///< `RUN` of an argument, `--limit` of an option; `-f,--file` has two.
    Target target;
    std::string help;
    std::string value{}; ///< What it takes, for the help: `DIR`.
    std::vector<std::string> choices{};
    bool is_required = false;
    Completes completes = Completes::Nothing;
    std::string group{};     ///< At most one option of a group is given.
    std::uint64_t least = 0; ///< Of a number.
    std::uint64_t most = 1'000'000'000'000;

    bool is_option() const { return name.starts_with('-'); }
    bool takes_value() const {
        return !std::holds_alternative<bool*>(target) &&
               !std::holds_alternative<std::optional<std::string>*>(target) &&
               !std::holds_alternative<std::function<void()>>(target);
    }
};

struct Command {
    std::string name; ///< `token create` belongs to the group `token`.
    std::string help; ///< Of a group without a `run`: what it is for.
    std::vector<Word> words{};
    std::function<ExitCode()> run{};
};

/// The option that every command with something to tell has.
inline Word json_word(bool& is_json, std::string help) {
    return {.name = "--json", .target = &is_json, .help = std::move(help)};
}

inline Word run_word(std::string& run, std::string help = "The run") {
    return {.name = "RUN",
            .target = &run,
            .help = std::move(help),
            .is_required = true,
            .completes = Completes::Run};
}

} // namespace sluice::cli
