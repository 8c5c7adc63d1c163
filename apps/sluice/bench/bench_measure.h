#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sluice/bench/bench_report.h"
#include "value/value.h"

namespace sluice::app {

/// How often a second, on this thread; the work says whether it did what it should.
Result<double> measure_rate(std::string_view what, const std::function<bool()>& work);

double rounded(double number, double steps);
/// `NAME_per_second`, the median, and `NAME_spread`.
void add_rate(std::vector<value::Member>& report, const std::string& name, const Samples& samples);

} // namespace sluice::app
