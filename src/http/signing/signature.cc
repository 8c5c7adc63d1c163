#include "http/signing/signature.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <span>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <sodium.h>

namespace sluice::http::signing {

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

std::string header_of(const Request& request, std::string_view name) {
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

std::string canonical(const Request& request, const std::vector<std::string>& names) {
    auto target = origin_form(request.target);
    auto text = fmt::format("{}\n{}\n{}\n", to_string(request.method),
                            target.substr(0, target.find('?')), canonical_query(target));
    for (const auto& name : names) {
        text += fmt::format("{}:{}\n", name, header_of(request, name));
    }
    return text + fmt::format("\n{}\n{}", fmt::join(names, ";"), hash(request.body));
}

/// `20261116T020331Z`; nothing when it is none.
std::optional<Time> parse_date(std::string_view text) {
    if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') {
        return std::nullopt;
    }
    auto is_number = true;
    auto number = [&](std::size_t at, std::size_t size) {
        auto value = 0;
        auto [end, error] = std::from_chars(text.data() + at, text.data() + at + size, value);
        is_number &= error == std::errc{} && end == text.data() + at + size;
        return value;
    };
    auto day = std::chrono::year_month_day{std::chrono::year{number(0, 4)},
                                           std::chrono::month(unsigned(number(4, 2))),
                                           std::chrono::day(unsigned(number(6, 2)))};
    auto time = std::chrono::hours{number(9, 2)} + std::chrono::minutes{number(11, 2)} +
                std::chrono::seconds{number(13, 2)};
    return is_number && day.ok() ? std::optional{Time{std::chrono::sys_days{day} + time}}
                                 : std::nullopt;
}

std::string date_text(Time time) {
    return fmt::format("{:%Y%m%dT%H%M%SZ}", std::chrono::floor<std::chrono::seconds>(time));
}

} // namespace

Result<Signature> Signature::parse(std::string_view header) {
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
        return fail(Errc::InvalidInput,
                    "Authorization: expected {} Credential=KEY/DAY/REGION/SERVICE/aws4_request, "
                    "SignedHeaders=host;…, Signature=…",
                    algorithm);
    }
    signature.key = scope[0];
    signature.day = scope[1];
    signature.region = scope[2];
    signature.service = scope[3];
    return signature;
}

std::string Signature::digest_of(const Request& request, std::string_view secret) const {
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

Result<void> Signature::check(const Request& request, std::string_view secret, Time now) const {
    auto date = header_of(request, "X-Amz-Date");
    auto time = parse_date(date);
    if (!time || !date.starts_with(day)) {
        return fail(Errc::InvalidInput,
                    "X-Amz-Date: expected the time of signing, such as 20261116T020331Z, on the "
                    "day of the credential");
    }
    if (std::chrono::abs(now - *time) > skew_max) {
        return fail(Errc::Stale, "Signature expired: it is of {}, and the time here is {}", date,
                    date_text(now));
    }
    auto expected = digest_of(request, secret);
    // How long comparing takes must not tell how much of it was right.
    if (expected.size() != digest.size() ||
        sodium_memcmp(expected.data(), digest.data(), expected.size()) != 0) {
        return fail(Errc::Conflict, "the signature does not match: check the secret access key");
    }
    return {};
}

std::string Signature::text() const {
    return fmt::format("{} Credential={}/{}/{}/{}/aws4_request, SignedHeaders={}, Signature={}",
                       algorithm, key, day, region, service, fmt::join(headers, ";"), digest);
}

void sign(Request& request, const Url& url, const Signer& signer, Time now) {
    auto date = date_text(now);
    auto signature = Signature{.key = signer.key,
                               .day = date.substr(0, 8),
                               .region = signer.region,
                               .service = signer.service,
                               .headers = {"host", "x-amz-content-sha256", "x-amz-date"}};
    request.headers.set("X-Amz-Date", date);
    request.headers.set("X-Amz-Content-Sha256", hash(request.body));
    auto seen = request; // As the other side has it: the client adds the host by itself.
    seen.target = url.target;
    seen.headers.set("Host", url.authority());
    signature.digest = signature.digest_of(seen, signer.secret);
    request.headers.set("Authorization", signature.text());
}

} // namespace sluice::http::signing
