#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"
#include "expr/states/internal/call.h"
#include "value/json.h"

namespace sluice::expr::states::internal {
namespace {

constexpr std::size_t call_depth_max = 10;
constexpr auto prefix = std::string_view{"States."};

template <typename... Parts>
std::unexpected<std::string> refuse(fmt::format_string<Parts...> text, Parts&&... parts) {
    return std::unexpected(fmt::format(text, std::forward<Parts>(parts)...));
}

bool is_name_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

} // namespace

/// Reads a call from its text.
class CallParser {
public:
    explicit CallParser(std::string_view text) : text_{text} {}

    std::expected<Call, std::string> run() {
        auto made = Call{};
        made.root_ = TRY(call(1));
        skip_blanks();
        if (at_ < text_.size()) {
            return refuse("there is something behind the function, at byte {}", at_);
        }
        made.text_ = text_;
        made.variables_ = std::move(variables_);
        return made;
    }

private:
    using Node = Call::Node;

    std::expected<std::unique_ptr<const Node>, std::string> call(std::size_t depth) {
        if (depth > call_depth_max) {
            return refuse("at most {} functions nest", call_depth_max);
        }
        auto node = std::make_unique<Node>();
        node->function = TRY(function());
        if (!take('(')) {
            return refuse("expected ( at byte {}", at_);
        }
        skip_blanks();
        while (!take(')')) {
            if (!node->arguments.empty() && !take(',')) {
                return refuse("expected , or ) at byte {}", at_);
            }
            node->arguments.push_back(TRY(argument(*node, depth)));
            skip_blanks();
        }
        TRY(check(*node));
        return node;
    }

    std::expected<const Function*, std::string> function() {
        if (!text_.substr(at_).starts_with(prefix)) {
            return refuse("expected a function, States.…, at byte {}", at_);
        }
        at_ += prefix.size();
        auto begin = at_;
        while (at_ < text_.size() && is_name_letter(text_[at_])) {
            ++at_;
        }
        auto name = text_.substr(begin, at_ - begin);
        const auto* found = find_function(name);
        if (found == nullptr) {
            return refuse("there is no function States.{}", name);
        }
        return found;
    }

    static std::expected<void, std::string> check(const Node& node) {
        const auto& function = *node.function;
        auto count = node.arguments.size();
        if (count < function.arguments_min || count > function.arguments_max) {
            return refuse("States.{} takes {} arguments, found {}", function.name, arity(function),
                          count);
        }
        for (auto at = std::size_t{0}; at < count; ++at) {
            const auto* literal = std::get_if<Value>(&node.arguments[at]);
            auto refusal = literal != nullptr ? refuse_argument(function, at, *literal) : "";
            if (!refusal.empty()) {
                return refuse("States.{}: {}", function.name, refusal);
            }
        }
        return {};
    }

    static std::string arity(const Function& function) {
        if (function.arguments_max == 255) {
            return fmt::format("at least {}", function.arguments_min);
        }
        return function.arguments_min == function.arguments_max
                   ? fmt::format("{}", function.arguments_min)
                   : fmt::format("{} or {}", function.arguments_min, function.arguments_max);
    }

    std::expected<Call::Argument, std::string> argument(Node& node, std::size_t depth) {
        skip_blanks();
        auto c = at_ < text_.size() ? text_[at_] : '\0';
        if (c == '\'') {
            auto is_format = node.function->name == "Format" && node.arguments.empty();
            return Value{TRY(string(is_format ? &node.pieces : nullptr))};
        }
        if (c == '$') {
            auto path = TRY(RootedPath::compile(path_text(), RootedPath::Form::Any));
            if (!path.variable().empty()) {
                variables_.push_back(path.variable());
            }
            return path;
        }
        if (text_.substr(at_).starts_with(prefix)) {
            return TRY(call(depth + 1));
        }
        return TRY(scalar());
    }

    /// Up to the closing quote. `pieces` gets what stands around places `{}` that are not escaped.
    std::expected<std::string, std::string> string(std::vector<std::string>* pieces) {
        auto begin = at_++;
        auto out = std::string{};
        auto piece_at = std::size_t{0};
        for (; at_ < text_.size(); ++at_) {
            auto c = text_[at_];
            if (c == '\'') {
                ++at_;
                if (pieces != nullptr) {
                    pieces->push_back(out.substr(piece_at));
                }
                return out;
            }
            if (c == '\\') {
                if (++at_ == text_.size()) {
                    break;
                }
                constexpr auto escapable = std::string_view{"'{}\\"};
                // Others keep their backslash: JSON in a text has its own.
                out += escapable.find(text_[at_]) == std::string_view::npos ? "\\" : "";
                out += text_[at_];
                continue;
            }
            if (pieces != nullptr && text_.substr(at_, 2) == "{}") {
                pieces->push_back(out.substr(piece_at));
                out += "{}";
                piece_at = out.size();
                ++at_;
                continue;
            }
            out += c;
        }
        return refuse("the string at byte {} has no end", begin);
    }

    /// Up to the comma or bracket that ends the argument, over those inside the path.
    std::string_view path_text() {
        auto begin = at_;
        auto nesting = 0;
        auto quote = '\0';
        for (; at_ < text_.size(); ++at_) {
            auto c = text_[at_];
            if (quote != '\0') {
                at_ += c == '\\' ? 1 : 0;
                quote = c == quote ? '\0' : quote;
            } else if (c == '\'' || c == '"') {
                quote = nesting > 0 ? c : '\0';
            } else if (c == '[' || c == '(') {
                ++nesting;
            } else if (nesting > 0 && (c == ']' || c == ')')) {
                --nesting;
            } else if (nesting == 0 && (c == ',' || c == ')')) {
                break;
            }
        }
        at_ = std::min(at_, text_.size());
        auto path = text_.substr(begin, at_ - begin);
        return path.substr(0, path.find_last_not_of(" \t\r\n") + 1);
    }

    /// A number, true, false or null.
    std::expected<Value, std::string> scalar() {
        auto begin = at_;
        while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ')' &&
               !is_blank(text_[at_])) {
            ++at_;
        }
        auto word = text_.substr(begin, at_ - begin);
        auto parsed = value::parse_json(word);
        if (!parsed || parsed->is_string() || parsed->is_list() || parsed->is_map()) {
            return refuse(
                "expected a path, a function, a number, null, true, false or a string in "
                "single quotes at byte {}",
                begin);
        }
        return *parsed;
    }

    static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

    void skip_blanks() {
        while (at_ < text_.size() && is_blank(text_[at_])) {
            ++at_;
        }
    }

    bool take(char c) {
        auto is_there = at_ < text_.size() && text_[at_] == c;
        at_ += is_there ? 1 : 0;
        return is_there;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<std::string> variables_;
};

std::expected<Call, std::string> Call::compile(std::string_view text) {
    return CallParser{text}.run();
}

} // namespace sluice::expr::states::internal
