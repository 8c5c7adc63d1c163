#include "cli/command_line.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/nearest.h"
#include "cli/output.h"

namespace sluice::cli {

namespace {

template <typename... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};

/// The first name of a word: `--file` of `-f,--file`.
std::string_view long_name(const Word& word) {
    auto comma = word.name.rfind(',');
    return std::string_view{word.name}.substr(comma == std::string::npos ? 0 : comma + 1);
}

template <typename Number>
CLI::Option* bind_number(CLI::App& app, const Word& word, Number& target) {
    return app.add_option(word.name, target, word.help)
        ->check(CLI::Range(word.least, word.most).description(""));
}

/// What is left to do when all words are read.
using Finish = std::vector<std::function<void()>>;

CLI::Option* bind(CLI::App& app, const Word& word, Finish& finish) {
    return std::visit(Overloaded{[&](bool* target) -> CLI::Option* {
                                     return app.add_flag(word.name, *target, word.help);
                                 },
                                 [&](const std::function<void()>& told) -> CLI::Option* {
                                     return app.add_flag_callback(word.name, told, word.help);
                                 },
                                 [&](std::optional<std::string>* target) -> CLI::Option* {
                                     // Only a flag leaves the next word alone; without a value it
                                     // is given as `true`.
                                     auto given = std::make_shared<std::string>();
                                     auto* option = app.add_flag(word.name, *given, word.help);
                                     finish.push_back([=] {
                                         if (option->count() > 0) {
                                             *target = *given == "true" ? "" : *given;
                                         }
                                     });
                                     return option;
                                 },
                                 [&](std::vector<std::string>* target) -> CLI::Option* {
                                     return app.add_option(word.name, *target, word.help)
                                         ->allow_extra_args(!word.is_option());
                                 },
                                 [&](std::optional<std::uint64_t>* target) -> CLI::Option* {
                                     return app.add_option(word.name, *target, word.help)
                                         ->check(CLI::Range(word.least, word.most).description(""));
                                 },
                                 [&](auto* target) -> CLI::Option* {
                                     if constexpr (std::is_same_v<decltype(target), std::string*>) {
                                         return app.add_option(word.name, *target, word.help);
                                     } else {
                                         return bind_number(app, word, *target);
                                     }
                                 }},
                      word.target);
}

void add_words(CLI::App& app, const Command& command, Finish& finish) {
    auto groups = std::map<std::string, std::vector<CLI::Option*>>{};
    for (const auto& word : command.words) {
        auto* option = bind(app, word, finish);
        option->required(word.is_required);
        if (!word.choices.empty()) {
            option->check(CLI::IsMember(word.choices));
        }
        if (!word.value.empty()) {
            option->type_name(word.value);
        }
        if (!word.group.empty()) {
            groups[word.group].push_back(option);
        }
    }
    for (const auto& [name, options] : groups) {
        for (auto* option : options) {
            for (auto* other : options) {
                if (other != option) {
                    option->excludes(other);
                }
            }
        }
    }
}

/// `token create` below `token`.
CLI::App& place_of(CLI::App& root, const Command& command) {
    auto* parent = &root;
    auto name = std::string_view{command.name};
    if (auto space = name.find(' '); space != std::string_view::npos) {
        parent = root.get_subcommand(std::string{name.substr(0, space)});
        name.remove_prefix(space + 1);
    }
    return *parent->add_subcommand(std::string{name}, command.help);
}

/// Words that begin a command: `token` of `token create` too.
std::string_view suggestion(const Program& program, const std::vector<std::string>& words,
                            const std::string& unknown) {
    auto known = std::vector<std::string_view>{};
    auto group = words.empty() ? std::string{} : words.front() + " ";
    for (const auto& command : program.commands) {
        auto name = std::string_view{command.name};
        if (unknown.starts_with('-')) {
            if (words.empty() || !(name == words.front() || name.starts_with(group))) {
                continue;
            }
            known.emplace_back("--help");
            for (const auto& word : command.words) {
                if (word.is_option()) {
                    known.push_back(long_name(word));
                }
            }
        } else if (unknown == (words.empty() ? "" : words.front())) {
            known.push_back(name.substr(0, name.find(' ')));
        } else if (name.starts_with(group)) {
            known.push_back(name.substr(group.size()));
        }
    }
    auto plain = unknown.substr(0, unknown.find('='));
    return nearest(plain, known);
}

ExitCode refuse(const Program& program, const CLI::App& app, const CLI::ParseError& error,
                std::span<char* const> arguments) {
    auto words = std::vector<std::string>(arguments.begin() + 1, arguments.end());
    auto unknown = std::string{};
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
        auto extras = app.remaining(true);
        unknown = extras.empty() ? std::string{} : extras.front();
    } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
        // A subcommand is asked for, and one that is none was given.
        auto chosen = app.get_subcommands();
        auto extras = chosen.empty() ? std::vector<std::string>{} : chosen.front()->remaining();
        unknown = extras.empty() || extras.front().starts_with('-') ? "" : extras.front();
        if (chosen.empty() && !words.empty()) {
            unknown = words.front();
        }
    }
    if (unknown.empty()) {
        say("sluice: {}", error.what());
    } else {
        auto meant = suggestion(program, words, unknown);
        auto what = unknown.starts_with('-') ? "option" : "command or argument";
        say("sluice: there is no {} `{}`{}", what, unknown,
            meant.empty() ? "" : fmt::format("; did you mean `{}`?", meant));
    }
    auto command = app.get_subcommands().empty() ? std::string{}
                                                 : " " + app.get_subcommands().front()->get_name();
    say("`{}{} --help` tells what there is", program.name, command);
    return ExitCode::Invalid;
}

} // namespace

ExitCode run(const Program& program, std::span<char* const> arguments) {
    auto app = CLI::App{program.help, program.name};
    app.set_version_flag("--version", program.version);
    app.require_subcommand(1);
    app.footer(program.footer);
    auto chosen = std::function<ExitCode()>{};
    auto finish = Finish{};
    for (const auto& command : program.commands) {
        auto& place = place_of(app, command);
        add_words(place, command, finish);
        if (command.run) {
            place.callback([&chosen, &command] { chosen = command.run; });
        } else {
            place.require_subcommand(1);
        }
    }
    try {
        app.parse(static_cast<int>(arguments.size()), arguments.data());
    } catch (const CLI::Success& told) {
        // Help and version are data.
        return static_cast<ExitCode>(app.exit(told));
    } catch (const CLI::ParseError& error) {
        return refuse(program, app, error, arguments);
    }
    for (const auto& each : finish) {
        each();
    }
    return chosen();
}

} // namespace sluice::cli
