#include "event/internal/shape.h"

#include <utility>

#include "event/internal/scanner.h"

namespace sluice::event::internal {

namespace {

using Step = Scanner::Step;

constexpr auto value_bytes_max = std::size_t{256};

std::string plain_text(Scanner& scanner) {
    const auto* begin = scanner.position();
    auto string = Scanner::String{};
    auto is_plain = scanner.read_string(string) && string.is_plain;
    return is_plain && string.raw.size() <= value_bytes_max
               ? std::string{scanner.passed_since(begin)}
               : std::string{};
}

} // namespace

void Shape::learn(std::string_view json) {
    learn_members(json);
    join();
}

void Shape::learn_members(std::string_view json) {
    members_.clear();
    auto scanner = Scanner{json};
    const auto* begin = scanner.position();
    auto name = Scanner::String{};
    for (auto is_first = true; scanner.next_member(is_first, name) == Step::Item;
         is_first = false) {
        if (name.has_escape || scanner.has_line_break()) {
            return;
        }
        auto lead = scanner.passed_since(begin);
        auto attribute = attribute_named(name.raw);
        auto value = std::string{};
        if (scanner.peek() == '"' && !is_payload(attribute)) {
            value = plain_text(scanner);
        } else {
            scanner.skip_value(depth_max_hard);
        }
        members_.push_back({.lead = std::string{lead},
                            .name_begin = static_cast<std::size_t>(name.raw.data() - lead.data()),
                            .name_size = name.raw.size(),
                            .attribute = attribute,
                            .value = std::move(value)});
        begin = scanner.position();
    }
}

void Shape::join() {
    stretches_.clear();
    auto has_open_end = true;
    for (auto at = std::size_t{0}; at < members_.size(); ++at) {
        if (has_open_end) {
            stretches_.emplace_back().first = at;
        }
        const auto& member = members_[at];
        auto& stretch = stretches_.back();
        stretch.behind = at + 1;
        stretch.name_begin = stretch.text.size() + member.name_begin;
        stretch.text += member.lead;
        stretch.seen |= bit(member.attribute);
        stretch.attributes += is_payload(member.attribute) ? 0 : 1;
        has_open_end = member.value.empty();
        stretch.has_open_end = has_open_end;
        if (has_open_end) {
            continue;
        }
        stretch.present |= bit(member.attribute);
        if (auto place = rule_of(member.attribute).place; place != nullptr) {
            stretch.parts.push_back({.place = place,
                                     .begin = stretch.text.size() + 1,
                                     .size = member.value.size() - 2});
        }
        stretch.text += member.value;
    }
}

} // namespace sluice::event::internal
