#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sluice/definition_file.h"
#include "trial/trial.h"

namespace sluice::app {

enum class ReportStyle : std::uint8_t { Text, Json };

/// Tells of cases as they are run, and of all of them at the end.
class TestReport {
public:
    explicit TestReport(ReportStyle style) : style_(style) {}

    void begin_file(const std::string& file) const;
    void add(const std::string& file, const std::string& name, const trial::Verdict& verdict);
    /// What is wrong with a file of cases, or with its definition.
    void add_findings(const Findings& findings) const;
    void end() const;

    std::size_t cases() const { return cases_; }

private:
    ReportStyle style_;
    std::size_t cases_ = 0;
    std::size_t failed_ = 0;
};

} // namespace sluice::app
