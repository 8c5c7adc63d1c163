#include "server/stepfunctions/signature.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <vector>

#include <fmt/ranges.h>
#include <sodium.h>

#include "http/url.h"
#include "value/time_text.h"

namespace sluice::server::stepfunctions {

namespace {

// What the service allows clocks to differ.
constexpr auto skew_max = std::chrono::minutes{15};

using Digest = std::array<unsigned char, crypto_hash_sha256_BYTES>;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

std::string hex(std::span<const unsigned char> bytes) {
    return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::string hash(std::string_view text) {
    auto digest = Digest{};
    crypto_hash_sha256(digest.data(), bytes_of(text), text.size());
    return hex(digest);
}

Digest keyed(std::span<const unsigned char> key, std::string_view text) {
    auto state = crypto_auth_hmacsha256_state{};
    auto digest = Digest{};
    crypto_auth_hmacsha256_init(&state, key.data(), key.size());
    crypto_auth_hmacsha256_update(&state, bytes_of(text), text.size());
    crypto_auth_hmacsha256_final(&state, digest.data());
    return digest;
}

std::vector<std::string> split(std::string_view text, char at) {
    auto parts = std::vector<std::string>{};
    while (!text.empty()) {
        auto part = text.substr(0, text.find(at));
        parts.emplace_back(part);
        text.remove_prefix(std::min(text.size(), part.size() + 1));
    }
    return parts;
}

/// Without blanks around, and one for many within.
std::string tidied(std::string_view text) {
    auto tidy = std::string{};
    for (auto letter : text) {
        auto is_blank = letter == ' ' || letter == '\t';
        if (!is_blank || (!tidy.empty() && tidy.back() != ' ')) {
            tidy += is_blank ? ' ' : letter;
        }
    }
    while (tidy.ends_with(' ')) {
        tidy.pop_back();
    }
    return tidy;
}

std::string header_of(const http::Request& request, std::string_view name) {
    const auto* found = request.headers.find(name);
    return found == nullptr ? "" : tidied(*found);
}

std::string canonical_query(std::string_view target) {
    auto question = target.find('?');
    auto pairs = split(question == std::string_view::npos ? "" : target.substr(question + 1), '&');
    for (auto& pair : pairs) {
        pair += pair.contains('=') ? "" : "=";
    }
    std::ranges::sort(pairs);
    return fmt::format("{}", fmt::join(pairs, "&"));
}

std::string canonical(const http::Request& request, const std::vector<std::string>& names) {
    auto target = http::origin_form(request.target);
    auto text = fmt::format("{}\n{}\n{}\n", http::to_string(request.method),
                            target.substr(0, target.find('?')), canonical_query(target));
    for (const auto& name : names) {
        text += fmt::format("{}:{}\n", name, header_of(request, name));
    }
    return text + fmt::format("\n{}\n{}", fmt::join(names, ";"), hash(request.body));
}

/// `20261116T020331Z`
Result<Time> parse_date(std::string_view text) {
    if (text.size() != 16) {
        return fail(Errc::InvalidInput, "expected a date such as 20261116T020331Z");
    }
    return value::parse_time(fmt::format("{}-{}-{}T{}:{}:{}Z", text.substr(0, 4), text.substr(4, 2),
                                         text.substr(6, 2), text.substr(9, 2), text.substr(11, 2),
                                         text.substr(13, 2)));
}

} // namespace

std::expected<Signature, Fault> Signature::parse(std::string_view header) {
    auto signature = Signature{};
    auto scope = std::vector<std::string>{};
    header.remove_prefix(std::min(header.size(), algorithm.size()));
    for (const auto& field : split(header, ',')) {
        auto text = tidied(field);
        auto equals = text.find('=');
        auto name = text.substr(0, equals);
        auto value = equals == std::string::npos ? std::string{} : text.substr(equals + 1);
        if (name == "Credential") {
            scope = split(value, '/');
        } else if (name == "SignedHeaders") {
            signature.headers = split(value, ';');
        } else if (name == "Signature") {
            signature.digest = value;
        }
    }
    auto is_host_signed = std::ranges::find(signature.headers, "host") != signature.headers.end();
    if (scope.size() != 5 || signature.digest.empty() || !is_host_signed) {
        return refuse("IncompleteSignature",
                      "Authorization: expected {} Credential=KEY/DAY/REGION/states/aws4_request, "
                      "SignedHeaders=host;…, Signature=…",
                      algorithm);
    }
    signature.key = scope[0];
    signature.day = scope[1];
    signature.region = scope[2];
    signature.service = scope[3];
    return signature;
}

std::string Signature::digest_of(const http::Request& request, std::string_view secret) const {
    auto scope = fmt::format("{}/{}/{}/aws4_request", day, region, service);
    auto text = fmt::format("{}\n{}\n{}\n{}", algorithm, header_of(request, "X-Amz-Date"), scope,
                            hash(canonical(request, headers)));
    auto first = fmt::format("AWS4{}", secret);
    auto derived = keyed({bytes_of(first), first.size()}, day);
    for (auto part :
         {std::string_view{region}, std::string_view{service}, std::string_view{"aws4_request"}}) {
        derived = keyed(derived, part);
    }
    return hex(keyed(derived, text));
}

std::expected<void, Fault> Signature::check(const http::Request& request, std::string_view secret,
                                            Time now) const {
    auto date = header_of(request, "X-Amz-Date");
    auto time = parse_date(date);
    if (!time || !date.starts_with(day)) {
        return refuse("IncompleteSignature",
                      "X-Amz-Date: expected the time of signing, such as 20261116T020331Z, on the "
                      "day of the credential");
    }
    if (std::chrono::abs(now - *time) > skew_max) {
        return refuse("InvalidSignatureException",
                      "Signature expired: it is of {}, and the time here is {}",
                      value::format_time(*time), value::format_time(now));
    }
    auto expected = digest_of(request, secret);
    // How long comparing takes must not tell how much of it was right.
    if (expected.size() != digest.size() ||
        sodium_memcmp(expected.data(), digest.data(), expected.size()) != 0) {
        return refuse("InvalidSignatureException",
                      "the signature does not match: check the secret access key");
    }
    return {};
}

} // namespace sluice::server::stepfunctions
