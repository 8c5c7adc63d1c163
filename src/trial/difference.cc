#include "trial/difference.h"

#include <algorithm>

#include <fmt/format.h>

#include "value/wording.h"

namespace sluice::trial {

namespace {

constexpr auto differences_max = std::size_t{20};
constexpr auto depth_max = 100; // What lies deeper is compared as a whole.
constexpr auto shown_bytes_max = std::size_t{200};

class Comparison {
public:
    Comparison(Match match, std::vector<Difference>& out) : match_(match), out_(out) {}

    void compare(const Value& expected, const Value& got, const std::string& path, int depth) {
        if (out_.size() >= differences_max) {
            return;
        }
        if (expected.is_map() && got.is_map() && depth < depth_max) {
            compare_maps(expected, got, path, depth);
        } else if (expected.is_list() && got.is_list() && depth < depth_max) {
            compare_lists(expected, got, path, depth);
        } else if (!is_same(expected, got)) {
            out_.push_back({.path = path, .message = {}, .expected = expected, .got = got});
        }
    }

private:
    static bool is_same(const Value& expected, const Value& got) {
        if (!expected.is_number() || !got.is_number()) {
            return expected == got;
        }
        auto is_whole = [](const Value& value) { return value.is_int() || value.is_uint(); };
        if (is_whole(expected) && is_whole(got)) {
            return value::brief(expected) == value::brief(got);
        }
        return as_double(expected) == as_double(got);
    }

    static double as_double(const Value& value) {
        return value.is_int()    ? static_cast<double>(value.as_int())
               : value.is_uint() ? static_cast<double>(value.as_uint())
                                 : value.as_double();
    }

    static std::string join(const std::string& path, std::string_view part) {
        return path.empty() ? std::string{part} : fmt::format("{}/{}", path, part);
    }

    void report(const std::string& path, std::string message, Value expected, Value got) {
        if (out_.size() < differences_max) {
            out_.push_back({.path = path,
                            .message = std::move(message),
                            .expected = std::move(expected),
                            .got = std::move(got)});
        }
    }

    void compare_maps(const Value& expected, const Value& got, const std::string& path, int depth) {
        for (const auto& [name, member] : expected.as_map()) {
            if (const auto* found = got.find(name)) {
                compare(member, *found, join(path, name), depth + 1);
            } else {
                report(
                    join(path, name),
                    fmt::format("expected {}, got nothing", value::brief(member, shown_bytes_max)),
                    member, {});
            }
        }
        for (const auto& [name, member] : got.as_map()) {
            if (match_ == Match::Whole && expected.find(name) == nullptr) {
                report(
                    join(path, name),
                    fmt::format("expected nothing, got {}", value::brief(member, shown_bytes_max)),
                    {}, member);
            }
        }
    }

    void compare_lists(const Value& expected, const Value& got, const std::string& path,
                       int depth) {
        if (expected.size() != got.size()) {
            report(path, fmt::format("expected {} items, got {}", expected.size(), got.size()),
                   expected, got);
        }
        for (auto at = std::size_t{0}; at < std::min(expected.size(), got.size()); ++at) {
            compare(expected.as_list()[at], got.as_list()[at], join(path, std::to_string(at)),
                    depth + 1);
        }
    }

    Match match_;
    std::vector<Difference>& out_;
};

} // namespace

void compare(const Value& expected, const Value& got, Match match, const std::string& path,
             std::vector<Difference>& out) {
    Comparison{match, out}.compare(expected, got, path, 0);
}

bool matches(const Value& expected, const Value& got, Match match) {
    auto differences = std::vector<Difference>{};
    compare(expected, got, match, "", differences);
    return differences.empty();
}

std::string to_text(const Difference& difference) {
    auto message =
        difference.message.empty()
            ? fmt::format("expected {}, got {}", value::brief(difference.expected, shown_bytes_max),
                          value::brief(difference.got, shown_bytes_max))
            : difference.message;
    return difference.path.empty() ? message : fmt::format("{}: {}", difference.path, message);
}

} // namespace sluice::trial
