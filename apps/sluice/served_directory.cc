#include "sluice/served_directory.h"

#include <csignal>
#include <fstream>
#include <iterator>
#include <system_error>

#include <unistd.h>

#include "sluice/output.h"
#include "value/json.h"

namespace sluice::app {

namespace {

constexpr auto file_name = "server.json";

} // namespace

ServedDirectory::ServedDirectory(const std::filesystem::path& data, const std::string& url)
    : file_(data / file_name) {
    auto told = Value::object({{"url", url}, {"pid", static_cast<std::int64_t>(::getpid())}});
    std::ofstream{file_} << value::to_json(told) << '\n';
}

ServedDirectory::~ServedDirectory() {
    auto ignored = std::error_code{};
    std::filesystem::remove(file_, ignored);
}

std::string ServedDirectory::url_of(const std::filesystem::path& data) {
    auto in = std::ifstream{data / file_name};
    auto text = std::string{std::istreambuf_iterator<char>{in}, {}};
    auto told = value::parse_json(text);
    const auto* pid = told ? told->find("pid") : nullptr;
    // One that was killed leaves its file behind.
    auto is_alive = pid != nullptr && pid->is_int() && pid->as_int() > 0 &&
                    ::kill(static_cast<pid_t>(pid->as_int()), 0) == 0;
    return is_alive ? text_at(*told, "url") : std::string{};
}

} // namespace sluice::app
