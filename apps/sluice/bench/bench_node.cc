#include "sluice/bench/bench_node.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "value/json.h"

namespace sluice::app {
namespace {

/// A folder of its own for what node reads, removed with it.
class ScriptFolder {
public:
    ScriptFolder() {
        auto pattern = (std::filesystem::temp_directory_path() / "sluice-bench-XXXXXX").string();
        if (::mkdtemp(pattern.data()) != nullptr) {
            path_ = pattern;
        }
    }
    ~ScriptFolder() {
        auto ignored = std::error_code{};
        std::filesystem::remove_all(path_, ignored);
    }
    ScriptFolder(const ScriptFolder&) = delete;
    ScriptFolder& operator=(const ScriptFolder&) = delete;

    std::string write(std::string_view name, std::string_view text) const {
        auto file = path_ / name;
        std::ofstream{file} << text;
        return file.string();
    }

private:
    std::filesystem::path path_;
};

} // namespace

std::optional<Value> ask_node(std::string_view script, const Value& job,
                              const std::string& packages) {
    auto folder = ScriptFolder{};
    auto script_file = folder.write("bench.js", script);
    auto job_file = folder.write("job.json", value::to_json(job));
    if (!packages.empty()) {
        ::setenv("NODE_PATH", packages.c_str(), 1); // NOLINT(concurrency-mt-unsafe)
    }
    auto command = fmt::format("node '{}' '{}' 2>/dev/null", script_file, job_file);
    auto* pipe = ::popen(command.c_str(), "r"); // NOLINT(cert-env33-c)
    if (pipe == nullptr) {
        return std::nullopt;
    }
    auto text = std::string{};
    auto buffer = std::array<char, 4096>{};
    for (auto read = std::size_t{0};
         (read = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
        text.append(buffer.data(), read);
    }
    ::pclose(pipe);
    auto answer = value::parse_json(text);
    return answer ? std::optional{*std::move(answer)} : std::nullopt;
}

Samples samples_of(const Value& rates) {
    auto samples = Samples{};
    for (const auto& rate : rates.as_list()) {
        samples.add(rate.is_int() ? static_cast<double>(rate.as_int()) : rate.as_double());
    }
    return samples;
}

} // namespace sluice::app
