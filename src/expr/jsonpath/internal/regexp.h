#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <re2/re2.h>

namespace sluice::expr::jsonpath::internal {

/// An I-Regexp (RFC 9485) as RE2 writes it; nothing when it is none.
std::optional<std::string> translate_iregexp(std::string_view pattern);

/// Null when it is no regular expression that RE2 takes: RE2 answers in linear time.
std::shared_ptr<const re2::RE2> compile_regexp(std::string_view pattern);

} // namespace sluice::expr::jsonpath::internal
