#include "sluice/completion_command.h"

#include <string_view>
#include <utility>

#include "sluice/output.h"

namespace sluice::app {

namespace {

struct Completed {
    std::string_view command;
    std::string_view words; ///< What may follow it, besides files.
};

constexpr Completed completed[] = {
    Completed{"run",
              "--input --functions --data --run --label --events --durability --threads --json "
              "--quiet --keep-going --help"},
    Completed{"fork",
              "--at --id --functions --data --events --threads --json --quiet --keep-going --help"},
    Completed{"delete", "--data --force --json --help"},
    Completed{"validate", "--json --help"},
    Completed{
        "show",
        "--data --triggers --contexts --history --events --timers --tasks --status "
        "--definition --label --since --until --ended-since --ended-until --cursor --limit --json "
        "--help"},
    Completed{"why", "--data --json --help"},
    Completed{"replay", "--data --from --at --json --help"},
    Completed{"serve", "--data --listen --durability --threads --json --help"},
    Completed{"reopen", "--data --json --help"},
    Completed{"store", "check export --data --json --help"},
    Completed{"bench",
              "noop join sequence parallel waiting --events --triggers --matching --length "
              "--width --runs --durability --threads --repetitions --data --json --help"},
    Completed{"completion", "bash zsh fish --help"},
};

std::string all_commands() {
    auto text = std::string{};
    for (const auto& each : completed) {
        text += std::string{each.command} + ' ';
    }
    return text + "--version --help";
}

std::string bash_script() {
    auto cases = std::string{};
    for (const auto& [command, words] : completed) {
        cases += fmt::format("        {}) words='{}' ;;\n", command, words);
    }
    return fmt::format(R"(_sluice() {{
    local words='{}'
    case "${{COMP_WORDS[1]}}" in
{}    esac
    [ "$COMP_CWORD" -gt 1 ] || words='{}'
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _sluice sluice)",
                       all_commands(), cases, all_commands());
}

std::string fish_script() {
    auto lines = fmt::format("complete -c sluice -n __fish_use_subcommand -a '{}'", all_commands());
    for (const auto& [command, words] : completed) {
        lines += fmt::format("\ncomplete -c sluice -n '__fish_seen_subcommand_from {}' -a '{}'",
                             command, words);
    }
    return lines;
}

} // namespace

ExitCode print_completion(const std::string& shell) {
    if (shell == "bash") {
        print_line(bash_script());
    } else if (shell == "zsh") {
        // Its own emulation reads the script of bash.
        print("autoload -U +X bashcompinit && bashcompinit\n{}", bash_script());
    } else {
        print_line(fish_script());
    }
    return ExitCode::Ok;
}

} // namespace sluice::app
