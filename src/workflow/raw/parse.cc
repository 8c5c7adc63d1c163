#include "workflow/raw/parse.h"

#include "workflow/raw/internal/readers.h"
#include "workflow/raw/internal/screen.h"

namespace sluice::workflow::raw {

namespace {

constexpr auto byte_order_mark = std::string_view{"\xEF\xBB\xBF"};

bool is_json(std::string_view text) {
    auto first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{';
}

} // namespace

std::expected<Document, std::vector<Finding>> parse(std::string_view text,
                                                    std::string_view file_name,
                                                    const ParseOptions& options) {
    auto tree = internal::Tree{file_name, options.depth_max};
    if (text.starts_with(byte_order_mark)) {
        text.remove_prefix(byte_order_mark.size());
    }
    auto fault = internal::screen_text(text);
    if (!fault && !is_json(text)) {
        fault = internal::screen_brackets(text);
    }
    if (fault) {
        tree.stop(fault->place, std::move(fault->message));
    } else if (is_json(text)) {
        internal::read_json(text, tree);
    } else {
        internal::read_yaml(text, tree);
    }
    return std::move(tree).finish();
}

} // namespace sluice::workflow::raw
