#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::http {

enum class Method : std::uint8_t { Get, Head, Post, Put, Patch, Delete, Options, Other };

std::string_view to_string(Method method);
/// Neither GET, HEAD nor OPTIONS.
bool is_change(Method method);

struct Header {
    std::string name;
    std::string value;

    bool operator==(const Header&) const = default;
};

/// Header fields in the order they came. Names compare without regard to case.
class Headers {
public:
    Headers() = default;
    Headers(std::initializer_list<Header> fields) : fields_(fields) {}

    void add(std::string name, std::string value) {
        fields_.push_back({std::move(name), std::move(value)});
    }
    /// In place of all others of that name.
    void set(std::string_view name, std::string value);
    /// The first of that name; null when there is none.
    const std::string* find(std::string_view name) const;
    const std::vector<Header>& all() const { return fields_; }

    bool operator==(const Headers&) const = default;

private:
    std::vector<Header> fields_;
};

/// Whether two names of header fields are the same.
bool is_same_name(std::string_view left, std::string_view right);

struct Request {
    Method method = Method::Get;
    std::string target = "/"; ///< As it stood in the request line: path and query, not decoded.
    Headers headers;
    std::string body;
    std::string peer; ///< Address of the other side.
};

struct Response {
    int status = 200;
    Headers headers;
    std::string body;
};

std::string_view reason_of(int status);

} // namespace sluice::http
