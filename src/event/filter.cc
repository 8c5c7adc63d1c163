#include "event/filter.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "value/json.h"

namespace sluice::event {

namespace {

using Predicates = std::vector<std::shared_ptr<const Predicate>>;

/// The views that an event has anyway; others are looked for in its text.
std::optional<std::string_view> view_of(const Event& event, std::string_view name) {
    if (name == "type") {
        return event.type();
    }
    if (name == "source") {
        return event.source();
    }
    if (name == "id") {
        return event.id();
    }
    if (name == "subject") {
        return event.subject();
    }
    return std::nullopt;
}

enum class TextTest : std::uint8_t { Exact, Prefix, Suffix };

bool holds(TextTest test, std::string_view text, std::string_view wanted) {
    switch (test) {
        case TextTest::Exact: return text == wanted;
        case TextTest::Prefix: return text.starts_with(wanted);
        case TextTest::Suffix: return text.ends_with(wanted);
    }
    return false;
}

class Everything final : public Predicate {
public:
    bool matches(const Event&) const override { return true; }
};

/// `exact`, `prefix` and `suffix`: every attribute listed must pass.
class AttributeTexts final : public Predicate {
public:
    AttributeTexts(TextTest test, std::vector<std::pair<std::string, std::string>> wanted)
        : test_(test), wanted_(std::move(wanted)) {}

    bool matches(const Event& event) const override {
        return std::ranges::all_of(wanted_, [&](const auto& each) {
            const auto& [name, text] = each;
            if (auto view = view_of(event, name)) {
                return holds(test_, *view, text);
            }
            auto value = event.attribute(name);
            if (!value) {
                return false;
            }
            return value->is_string() ? holds(test_, value->as_string(), text)
                                      : holds(test_, value::to_json(*value), text);
        });
    }

    std::optional<std::vector<std::string>> values_of(std::string_view attribute) const override {
        if (test_ == TextTest::Exact) {
            for (const auto& [name, text] : wanted_) {
                if (name == attribute) {
                    return std::vector{text};
                }
            }
        }
        return std::nullopt;
    }

private:
    TextTest test_;
    std::vector<std::pair<std::string, std::string>> wanted_;
};

class All final : public Predicate {
public:
    explicit All(Predicates parts) : parts_(std::move(parts)) {}

    bool matches(const Event& event) const override {
        return std::ranges::all_of(parts_, [&](const auto& part) { return part->matches(event); });
    }
    /// Whatever the others say, it is one of those that any part leaves.
    std::optional<std::vector<std::string>> values_of(std::string_view attribute) const override {
        auto fewest = std::optional<std::vector<std::string>>{};
        for (const auto& part : parts_) {
            auto values = part->values_of(attribute);
            if (values && (!fewest || values->size() < fewest->size())) {
                fewest = std::move(values);
            }
        }
        return fewest;
    }

private:
    Predicates parts_;
};

class Any final : public Predicate {
public:
    explicit Any(Predicates parts) : parts_(std::move(parts)) {}

    bool matches(const Event& event) const override {
        return std::ranges::any_of(parts_, [&](const auto& part) { return part->matches(event); });
    }
    std::optional<std::vector<std::string>> values_of(std::string_view attribute) const override {
        auto all = std::vector<std::string>{};
        for (const auto& part : parts_) {
            auto values = part->values_of(attribute);
            if (!values) {
                return std::nullopt;
            }
            std::ranges::move(*values, std::back_inserter(all));
        }
        std::ranges::sort(all);
        auto repeated = std::ranges::unique(all);
        all.erase(repeated.begin(), repeated.end());
        return all;
    }

private:
    Predicates parts_;
};

class Not final : public Predicate {
public:
    explicit Not(std::shared_ptr<const Predicate> part) : part_(std::move(part)) {}

    bool matches(const Event& event) const override { return !part_->matches(event); }

private:
    std::shared_ptr<const Predicate> part_;
};

bool is_attribute_name(std::string_view name) {
    return !name.empty() && name != "data" && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    });
}

class Parser {
public:
    explicit Parser(const Dialects& dialects) : dialects_(dialects) {}

    Result<std::shared_ptr<const Predicate>> parse(const Value& form, const std::string& place,
                                                   std::size_t depth) {
        if (depth > Filter::depth_max || ++count_ > Filter::predicates_max) {
            return fail(Errc::LimitExceeded, "{}: at most {} filters, {} within each other", place,
                        Filter::predicates_max, Filter::depth_max);
        }
        if (form.is_list()) {
            return std::make_shared<All>(TRY(parts(form, place, depth)));
        }
        if (!form.is_map() || form.size() > 1) {
            return fail(Errc::InvalidInput,
                        "{}: expected a map with one dialect ({}); several filters are a list",
                        place, known());
        }
        if (form.size() == 0) {
            return std::make_shared<Everything>();
        }
        const auto& [dialect, part] = form.as_map().front();
        return parse_dialect(dialect, part, place + "." + dialect, depth);
    }

private:
    Result<std::shared_ptr<const Predicate>> parse_dialect(const std::string& dialect,
                                                           const Value& form,
                                                           const std::string& place,
                                                           std::size_t depth) {
        if (dialect == "exact") {
            return attributes(TextTest::Exact, form, place);
        }
        if (dialect == "prefix") {
            return attributes(TextTest::Prefix, form, place);
        }
        if (dialect == "suffix") {
            return attributes(TextTest::Suffix, form, place);
        }
        if (dialect == "not") {
            return std::make_shared<Not>(TRY(parse(form, place, depth + 1)));
        }
        if (dialect == "all" || dialect == "any") {
            auto several = TRY(parts(form, place, depth));
            if (several.empty()) {
                return fail(Errc::InvalidInput, "{}: expected at least one filter", place);
            }
            if (dialect == "all") {
                return std::make_shared<All>(std::move(several));
            }
            return std::make_shared<Any>(std::move(several));
        }
        if (auto found = dialects_.find(dialect); found != dialects_.end()) {
            auto made = found->second(form);
            return made ? made
                        : Result<std::shared_ptr<const Predicate>>{std::unexpected(
                              Error{made.error().code, place + ": " + made.error().message})};
        }
        return fail(Errc::InvalidInput, "{}: there is no such dialect: expected {}", place,
                    known());
    }

    Result<Predicates> parts(const Value& form, const std::string& place, std::size_t depth) {
        if (!form.is_list()) {
            return fail(Errc::InvalidInput, "{}: expected a list of filters", place);
        }
        auto made = Predicates{};
        for (const auto& each : form.as_list()) {
            made.push_back(TRY(parse(each, fmt::format("{}[{}]", place, made.size()), depth + 1)));
        }
        return made;
    }

    static Result<std::shared_ptr<const Predicate>> attributes(TextTest test, const Value& form,
                                                               const std::string& place) {
        if (!form.is_map() || form.size() == 0) {
            return fail(Errc::InvalidInput, "{}: expected attributes with a text each", place);
        }
        auto wanted = std::vector<std::pair<std::string, std::string>>{};
        for (const auto& [name, text] : form.as_map()) {
            if (!is_attribute_name(name)) {
                return fail(Errc::InvalidInput,
                            "{}.{}: expected an attribute's name, lower-case letters and digits; "
                            "data is none",
                            place, name);
            }
            if (!text.is_string() || text.size() == 0) {
                return fail(Errc::InvalidInput, "{}.{}: expected a text that is not empty", place,
                            name);
            }
            wanted.emplace_back(name, text.as_string());
        }
        return std::make_shared<AttributeTexts>(test, std::move(wanted));
    }

    std::string known() const {
        auto names = std::vector<std::string>{"exact", "prefix", "suffix", "all", "any", "not"};
        for (const auto& [name, make] : dialects_) {
            names.push_back(name);
        }
        return fmt::format("{}", fmt::join(names, ", "));
    }

    const Dialects& dialects_;
    std::size_t count_ = 0;
};

} // namespace

Filter::Filter() : predicate_(std::make_shared<Everything>()) {}

Result<Filter> Filter::parse(const Value& form, const Dialects& dialects) {
    return Filter{TRY(Parser{dialects}.parse(form, "filter", 0))};
}

} // namespace sluice::event
