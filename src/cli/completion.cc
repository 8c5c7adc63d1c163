#include "cli/completion.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace sluice::cli {

namespace {

/// Runs that a server has; nothing when none answers.
constexpr auto runs_of_server =
    std::string_view{"sluice ps --limit 100 2>/dev/null | awk 'NR > 1 {print $1}'"};

bool is_in_group(const Command& command) {
    return command.name.contains(' ');
}

std::string last_word(const Command& command) {
    return command.name.substr(command.name.rfind(' ') + 1);
}

std::vector<std::string> names_of(const Word& word) {
    auto comma = word.name.find(',');
    return comma == std::string::npos
               ? std::vector{word.name}
               : std::vector{word.name.substr(0, comma), word.name.substr(comma + 1)};
}

std::string joined(const std::vector<std::string>& words) {
    auto text = std::string{};
    for (const auto& word : words) {
        text += text.empty() ? word : " " + word;
    }
    return text;
}

/// What may follow a command, besides files: its options, and choices of its arguments.
std::string words_of(const Command& command) {
    auto words = std::vector<std::string>{};
    for (const auto& word : command.words) {
        auto more = word.is_option() ? names_of(word) : word.choices;
        words.insert(words.end(), more.begin(), more.end());
    }
    words.emplace_back("--help");
    return joined(words);
}

bool takes_runs(const Command& command) {
    return std::ranges::any_of(command.words,
                               [](const Word& word) { return word.completes == Completes::Run; });
}

/// The commands that stand first, or those of a group.
std::vector<std::string> subcommands(const std::vector<Command>& commands,
                                     const std::string& group) {
    auto words = std::vector<std::string>{};
    for (const auto& command : commands) {
        auto is_one = group.empty() ? !is_in_group(command) : command.name.starts_with(group + " ");
        if (is_one) {
            words.push_back(last_word(command));
        }
    }
    return words;
}

std::string bash_case(const std::vector<Command>& commands, const Command& command) {
    if (!command.run) {
        return fmt::format("        {0}) words='{1} --help' ;;\n", command.name,
                           joined(subcommands(commands, command.name)));
    }
    auto pattern = is_in_group(command) ? fmt::format("'{}'", command.name) : command.name;
    auto text = fmt::format("        {}) words='{}'", pattern, words_of(command));
    text += takes_runs(command) ? "; runs=1 ;;\n" : " ;;\n";
    return text;
}

/// `store|token` for a case of the shell.
std::string groups_of(const std::vector<Command>& commands) {
    auto groups = std::string{"-"};
    for (const auto& command : commands) {
        groups += command.run ? "" : "|" + command.name;
    }
    return groups;
}

std::string bash_script(const std::vector<Command>& commands) {
    auto cases = std::string{};
    auto values = std::string{};
    for (const auto& command : commands) {
        cases += bash_case(commands, command);
        for (const auto& word : command.words) {
            if (word.is_option() && !word.choices.empty()) {
                values += fmt::format("        '{} {}') words='{}'; runs= ;;\n", command.name,
                                      names_of(word).back(), joined(word.choices));
            }
        }
    }
    return fmt::format(R"bash(_sluice() {{
    local words= runs= command="${{COMP_WORDS[1]}}" word="${{COMP_WORDS[COMP_CWORD]}}"
    case "$command" in
        {0}) [ "$COMP_CWORD" -lt 3 ] || command="$command ${{COMP_WORDS[2]}}" ;;
    esac
    case "$command" in
{1}    esac
    case "$command ${{COMP_WORDS[COMP_CWORD-1]}}" in
{2}        *) ;;
    esac
    if [ "$COMP_CWORD" -eq 1 ]; then
        words='{3} --version --help'
    elif [ -n "$runs" ] && [[ "$word" != -* ]]; then
        words="$words $({4})"
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _sluice sluice)bash",
                       groups_of(commands), cases, values, joined(subcommands(commands, "")),
                       runs_of_server);
}

std::string in_quotes(const std::string& text) {
    auto marked = std::string{"'"};
    for (auto letter : text) {
        marked += letter == '\'' ? "\\'" : std::string(1, letter);
    }
    return marked + "'";
}

/// Where a command's words belong: behind each of its own.
std::string fish_condition(const Command& command) {
    auto space = command.name.find(' ');
    auto condition = "__fish_seen_subcommand_from " + command.name.substr(0, space);
    return space == std::string::npos
               ? condition
               : condition + "; and __fish_seen_subcommand_from " + command.name.substr(space + 1);
}

std::string fish_word(const Command& command, const Word& word) {
    auto line = fmt::format("complete -c sluice -n {}", in_quotes(fish_condition(command)));
    if (!word.is_option()) {
        auto offered = word.completes == Completes::Run ? fmt::format("({})", runs_of_server)
                                                        : joined(word.choices);
        return offered.empty() ? "" : line + " -a " + in_quotes(offered) + "\n";
    }
    for (const auto& name : names_of(word)) {
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    line += word.takes_value() ? " -r" : "";
    line += word.choices.empty() ? "" : " -x -a " + in_quotes(joined(word.choices));
    return line + " -d " + in_quotes(word.help) + "\n";
}

std::string fish_script(const std::vector<Command>& commands) {
    auto script = std::string{};
    for (const auto& command : commands) {
        auto space = command.name.find(' ');
        auto group = command.name.substr(0, space);
        auto where = space == std::string::npos ? std::string{"__fish_use_subcommand"}
                                                : fmt::format(
                                                      "__fish_seen_subcommand_from {0}; and not "
                                                      "__fish_seen_subcommand_from {1}",
                                                      group, joined(subcommands(commands, group)));
        script += fmt::format("complete -c sluice -n {} -a {} -d {}\n", in_quotes(where),
                              last_word(command), in_quotes(command.help));
        for (const auto& word : command.words) {
            script += fish_word(command, word);
        }
    }
    script.pop_back();
    return script;
}

} // namespace

std::string completion_script(const std::string& shell, const std::vector<Command>& commands) {
    if (shell == "fish") {
        return fish_script(commands);
    }
    // Its own emulation lets zsh read the script of bash.
    return (shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "") +
           bash_script(commands);
}

} // namespace sluice::cli
