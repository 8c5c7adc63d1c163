#include "connector/nats/internal/wire/header.h"

#include <algorithm>

namespace sluice::connector::nats::internal::wire {

namespace {

constexpr auto header_version = std::string_view{"NATS/1.0"};
constexpr auto system_prefix = std::string_view{"Nats-"};
constexpr auto field_blanks = std::string_view{" \t\r"};
constexpr auto status_bytes = std::size_t{3};

std::string_view trimmed(std::string_view text) {
    auto begin = text.find_first_not_of(field_blanks);
    auto end = text.find_last_not_of(field_blanks);
    return begin == std::string_view::npos ? std::string_view{}
                                           : text.substr(begin, end + 1 - begin);
}

std::string_view take_line(std::string_view& text) {
    auto end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

/// Of a name that comes again the first stands, as in the library.
void add_field(std::string_view line, Header& header) {
    auto colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0 || field_blanks.contains(line.front()) ||
        line.starts_with(system_prefix) || header.fields.size() >= header_fields_max) {
        return;
    }
    auto name = line.substr(0, colon);
    if (std::ranges::find(header.fields, name, &Field::first) == header.fields.end()) {
        header.fields.emplace_back(name, trimmed(line.substr(colon + 1)));
    }
}

} // namespace

void read_header(std::string_view text, Header& header) {
    header.status = {};
    header.description = {};
    header.fields.clear();
    if (!text.starts_with(header_version)) {
        return;
    }
    auto first = trimmed(take_line(text).substr(header_version.size()));
    header.status = first.substr(0, status_bytes);
    header.description = trimmed(first.substr(header.status.size()));
    while (!text.empty()) {
        add_field(take_line(text), header);
    }
}

} // namespace sluice::connector::nats::internal::wire
