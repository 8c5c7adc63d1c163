#include <algorithm>
#include <istream>
#include <map>
#include <streambuf>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "workflow/raw/internal/core_schema.h"
#include "workflow/raw/internal/readers.h"

namespace sluice::workflow::raw::internal {

namespace {

constexpr auto standard_tag = std::string_view{"tag:yaml.org,2002:"};

/// Leaves the parser, which has no other way to be stopped.
struct Stopped {};

Place place_of(const YAML::Mark& mark) {
    return mark.is_null() ? Place{} : Place{.line = mark.line + 1, .column = mark.column + 1};
}

bool is_kind(const Value& value, std::string_view tag) {
    return (tag == "null" && value.is_null()) || (tag == "bool" && value.is_bool()) ||
           (tag == "int" && (value.is_int() || value.is_uint())) ||
           (tag == "float" && value.is_double());
}

/// Turns the parser's events into a tree.
class Handler final : public YAML::EventHandler {
public:
    explicit Handler(Tree& tree) : tree_(tree) {}

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (tree_.has_root()) {
            stop(mark, "found more behind the first document, expected one definition in a file");
        }
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        refuse_as_key(mark);
        add(mark, anchor, {});
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        refuse_as_key(mark);
        auto found = anchors_.find(anchor);
        if (found == anchors_.end()) {
            stop(mark, "found an alias of what it stands in");
        }
        tree_.add(place_of(mark), found->second);
        leave_when_stopped();
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& text) override {
        last_scalar_ = mark;
        if (tree_.expects_key()) {
            set_key(mark, tag, text);
        } else {
            add(mark, anchor, {.value = resolve(mark, tag, text)});
        }
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value /*style*/) override {
        begin(Shape::List, mark, tag, anchor);
    }
    void OnSequenceEnd() override { end(); }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value /*style*/) override {
        begin(Shape::Map, mark, tag, anchor);
    }
    void OnMapEnd() override { end(); }

    const YAML::Mark& last_scalar() const { return last_scalar_; }

private:
    void leave_when_stopped() const {
        if (tree_.has_stopped()) {
            throw Stopped{};
        }
    }

    [[noreturn]] void stop(const YAML::Mark& mark, std::string message) {
        tree_.stop(place_of(mark), std::move(message));
        throw Stopped{};
    }

    void refuse_as_key(const YAML::Mark& mark) {
        if (tree_.expects_key()) {
            stop(mark, "found a key that is no text, expected a text");
        }
    }

    void begin(Shape shape, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
        refuse_as_key(mark);
        auto usual = std::string{standard_tag} + (shape == Shape::List ? "seq" : "map");
        if (!tag.empty() && tag != "?" && tag != "!" && tag != usual) {
            tree_.report(place_of(mark), fmt::format("found the tag {}, expected none", tag));
        }
        tree_.begin(shape, place_of(mark));
        leave_when_stopped();
        open_anchors_.push_back(anchor);
    }

    void end() {
        auto node = tree_.end();
        leave_when_stopped();
        remember(open_anchors_.back(), node);
        open_anchors_.pop_back();
    }

    void add(const YAML::Mark& mark, YAML::anchor_t anchor, const Tree::Node& node) {
        tree_.add(place_of(mark), node);
        leave_when_stopped();
        remember(anchor, node);
    }

    void remember(YAML::anchor_t anchor, const Tree::Node& node) {
        if (anchor != YAML::NullAnchor) {
            anchors_[anchor] = node;
        }
    }

    void set_key(const YAML::Mark& mark, const std::string& tag, const std::string& text) {
        if (text == "<<" && tag == "?") {
            tree_.report(place_of(mark),
                         "found a merge key, which YAML 1.2 does not have: expected the members");
        }
        tree_.set_key(place_of(mark), text);
    }

    Value resolve(const YAML::Mark& mark, std::string_view tag, const std::string& text) {
        auto name = tag.starts_with(standard_tag) ? tag.substr(standard_tag.size()) : tag;
        if (name == "!" || name == "str") {
            return text;
        }
        auto resolved = resolve_plain(text);
        if (!resolved) {
            tree_.report(place_of(mark), resolved.error());
            return {};
        }
        if (name != "?" && !is_kind(*resolved, name)) {
            tree_.report(place_of(mark),
                         fmt::format("found the tag {} on this value, expected none", tag));
        }
        return *std::move(resolved);
    }

    Tree& tree_;
    YAML::Mark last_scalar_;
    std::map<YAML::anchor_t, Tree::Node> anchors_; ///< Of complete nodes.
    std::vector<YAML::anchor_t> open_anchors_;
};

/// A stream over a text that stays where it is.
class TextBuffer final : public std::streambuf {
public:
    explicit TextBuffer(std::string_view text) {
        auto* begin = const_cast<char*>(text.data()); // Only ever read.
        setg(begin, begin, begin + text.size());
    }
};

bool has_tab_indentation(std::string_view text, int line) {
    for (auto at = 1; at < line; ++at) {
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    }
    auto first = text.find_first_not_of(" \t");
    return text.substr(0, first).contains('\t');
}

/// Whether the scalar there has its closing quote, if it begins with one.
bool is_closed(std::string_view text, std::size_t byte) {
    text = text.substr(std::min(byte, text.size()));
    while (text.starts_with('&') || text.starts_with('!')) { // An anchor or a tag.
        text = text.substr(std::min(text.find_first_of(" \t\r\n"), text.size()));
        text = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    }
    if (!text.starts_with('\'') && !text.starts_with('"')) {
        return true;
    }
    auto quote = text.front();
    for (auto at = std::size_t{1}; at < text.size(); ++at) {
        auto is_pair = quote == '"' ? text[at] == '\\' : text.substr(at).starts_with("''");
        if (is_pair) {
            ++at;
        } else if (text[at] == quote) {
            return true;
        }
    }
    return false;
}

std::string explain(const YAML::Exception& error, std::string_view text) {
    if (!text.empty() && has_tab_indentation(text, error.mark.line + 1)) {
        return "found a tab in the indentation, expected spaces";
    }
    return "not YAML: " + error.msg;
}

} // namespace

void read_yaml(std::string_view text, Tree& tree) {
    auto buffer = TextBuffer{text};
    auto stream = std::istream{&buffer};
    auto handler = Handler{tree};
    try {
        auto parser = YAML::Parser{stream};
        while (parser.HandleNextDocument(handler)) {
        }
    } catch (const Stopped&) {
        return;
    } catch (const YAML::Exception& error) {
        tree.stop(place_of(error.mark), explain(error, text));
    } catch (const std::exception& error) {
        tree.stop({}, fmt::format("not YAML: {}", error.what()));
    }
    if (tree.has_stopped()) {
        return;
    }
    if (!tree.has_root()) {
        tree.stop({}, "found nothing, expected a definition");
        return;
    }
    // The parser takes the end of the text for a closing quote.
    const auto& last = handler.last_scalar();
    if (!is_closed(text, static_cast<std::size_t>(last.pos))) {
        tree.stop(place_of(last), "found a quote that is not closed");
    }
}

} // namespace sluice::workflow::raw::internal
