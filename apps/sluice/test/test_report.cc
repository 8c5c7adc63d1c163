#include "sluice/test/test_report.h"

#include <vector>

#include "sluice/output.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::app {

namespace {

Value to_value(const trial::Difference& difference) {
    return Value::object({{"path", difference.path},
                          {"message", to_text(difference)},
                          {"expected", difference.expected},
                          {"got", difference.got}});
}

/// Further lines of a message stand under its first.
std::string indented(std::string text) {
    for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
        text.insert(at + 1, "          ");
    }
    return text;
}

} // namespace

void TestReport::begin_file(const std::string& file) const {
    if (style_ == ReportStyle::Text) {
        print("{}", file);
    }
}

void TestReport::add(const std::string& file, const std::string& name,
                     const trial::Verdict& verdict) {
    ++cases_;
    failed_ += verdict.has_passed() ? 0 : 1;
    auto duration = value::format_duration(verdict.duration);
    if (style_ == ReportStyle::Json) {
        auto differences = std::vector<Value>{};
        for (const auto& each : verdict.differences) {
            differences.push_back(to_value(each));
        }
        print_line(value::to_json(Value::object({{"kind", "case"},
                                                 {"file", file},
                                                 {"case", name},
                                                 {"passed", verdict.has_passed()},
                                                 {"duration", duration},
                                                 {"differences", Value::list(differences)}})));
        return;
    }
    print("  {}  {} ({})", verdict.has_passed() ? "ok  " : "FAIL", name, duration);
    for (const auto& each : verdict.differences) {
        print("        {}", indented(to_text(each)));
    }
}

void TestReport::add_findings(const Findings& findings) const {
    if (style_ == ReportStyle::Text) {
        say_findings(findings);
        return;
    }
    for (const auto& finding : findings) {
        print_line(value::to_json(app::to_value(finding).with("kind", "finding")));
    }
}

void TestReport::end() const {
    if (style_ == ReportStyle::Json) {
        print_line(value::to_json(Value::object(
            {{"kind", "summary"}, {"cases", number(cases_)}, {"failed", number(failed_)}})));
    } else if (cases_ > 0) {
        print("{} case{}, {} failed", cases_, cases_ == 1 ? "" : "s", failed_);
    }
}

} // namespace sluice::app
