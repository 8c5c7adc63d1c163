#include "http/message.h"

#include <algorithm>
#include <ostream> // Beast uses it and does not say so.

#include <boost/beast/http/status.hpp>

namespace sluice::http {

namespace {

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
}

} // namespace

std::string_view to_string(Method method) {
    switch (method) {
        case Method::Get: return "GET";
        case Method::Head: return "HEAD";
        case Method::Post: return "POST";
        case Method::Put: return "PUT";
        case Method::Patch: return "PATCH";
        case Method::Delete: return "DELETE";
        case Method::Options: return "OPTIONS";
        case Method::Other: return "?";
    }
    return "?";
}

bool is_change(Method method) {
    return method != Method::Get && method != Method::Head && method != Method::Options;
}

bool is_same_name(std::string_view left, std::string_view right) {
    return std::ranges::equal(left, right, {}, lower, lower);
}

const std::string* Headers::find(std::string_view name) const {
    auto found = std::ranges::find_if(
        fields_, [&](const Header& each) { return is_same_name(each.name, name); });
    return found == fields_.end() ? nullptr : &found->value;
}

void Headers::set(std::string_view name, std::string value) {
    std::erase_if(fields_, [&](const Header& each) { return is_same_name(each.name, name); });
    add(std::string{name}, std::move(value));
}

std::string_view reason_of(int status) {
    auto text = boost::beast::http::obsolete_reason(
        boost::beast::http::int_to_status(static_cast<unsigned>(status)));
    return {text.data(), text.size()};
}

} // namespace sluice::http
