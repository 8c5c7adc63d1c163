#include "engine/token.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sodium.h>
#include <sys/random.h>

#include "base/invariant.h"
#include "store/leases.h"

namespace sluice::engine {

namespace {

constexpr auto token_format = std::uint8_t{1};
constexpr auto secret_format = std::uint8_t{1};
constexpr auto mac_bytes = std::size_t{16};
constexpr auto token_variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
// Namespace and run id are at most 200 and 250 bytes, the numbers at most 10 each.
constexpr auto token_bytes_max = std::size_t{1024};

static_assert(mac_bytes >= crypto_generichash_BYTES_MIN);
static_assert(std::tuple_size_v<Secret> == crypto_generichash_KEYBYTES);

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

using Mac = std::array<unsigned char, mac_bytes>;

Mac mac_of(std::string_view content, const Secret& secret) {
    auto mac = Mac{};
    crypto_generichash(mac.data(), mac.size(), bytes_of(content), content.size(), secret.data(),
                       secret.size());
    return mac;
}

std::string to_text(std::string_view bytes) {
    auto text = std::string(sodium_base64_encoded_len(bytes.size(), token_variant), '\0');
    sodium_bin2base64(text.data(), text.size(), bytes_of(bytes), bytes.size(), token_variant);
    text.pop_back(); // The zero at its end is counted.
    return text;
}

/// Empty when it is no base64.
std::string from_text(std::string_view text) {
    auto bytes = std::string(text.size(), '\0');
    auto size = std::size_t{0};
    auto failed =
        sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                          text.size(), nullptr, &size, nullptr, token_variant);
    bytes.resize(failed == 0 ? size : 0);
    return bytes;
}

Result<AttemptId> decode_attempt(std::string_view content) {
    auto in = Decoder{content};
    TRY(in.format(token_format, "token"));
    auto attempt = AttemptId{};
    attempt.run.space = TRY(in.text());
    attempt.run.id = TRY(in.text());
    attempt.started = Time{Nanos{TRY(in.svarint())}};
    attempt.key.fire = trigger::FireNumber{TRY(in.varint())};
    attempt.key.index = TRY(in.varint());
    attempt.attempt = static_cast<std::uint32_t>(TRY(in.varint()));
    attempt.scope = trigger::Incarnation{TRY(in.varint())};
    return attempt;
}

Result<Secret> draw_secret() {
    auto secret = Secret{};
    auto drawn = ssize_t{0};
    do {
        drawn = ::getrandom(secret.data(), secret.size(), 0);
    } while (drawn < 0 && errno == EINTR);
    if (std::cmp_not_equal(drawn, secret.size())) {
        return fail(Errc::Io, "the system gives no random bytes: {}", std::strerror(errno));
    }
    return secret;
}

/// Of processes that begin at once on an empty store all have the same.
Result<Secret> agreed_secret(store::Store& store) {
    auto secret = TRY(draw_secret());
    auto* leases = store.leases();
    if (leases == nullptr) {
        return secret;
    }
    auto drawn = std::string_view{reinterpret_cast<const char*>(secret.data()), secret.size()};
    auto agreed = from_text(TRY(leases->agree("secret", to_text(drawn))));
    if (agreed.size() != secret.size()) {
        return fail(Errc::Corrupt, "the store has {} bytes for its secret: expected {}",
                    agreed.size(), secret.size());
    }
    std::ranges::copy(agreed, secret.begin());
    return secret;
}

} // namespace

Result<Secret> load_secret(store::Store& store) {
    auto key = keys::secret();
    auto record = TRY(store.get(key));
    if (!record) {
        auto secret = TRY(agreed_secret(store));
        auto made = std::string{};
        auto out = Encoder{made};
        out.u8(secret_format);
        out.raw({reinterpret_cast<const char*>(secret.data()), secret.size()});
        auto batch = store.make_batch();
        batch->put(key, made);
        TRY(store.commit(*batch));
        TRY(store.sync());
        return secret;
    }
    auto in = Decoder{*record};
    TRY(in.format(secret_format, "secret"));
    auto secret = Secret{};
    std::ranges::copy(TRY(in.raw(secret.size())), secret.begin());
    return secret;
}

Tokens::Tokens(const Secret& secret) : secret_(secret) {
    INVARIANT(sodium_init() >= 0, "libsodium can be used");
}

std::string Tokens::make(const AttemptId& attempt) const {
    auto content = std::string{};
    content.reserve(64 + attempt.run.space.size() + attempt.run.id.size());
    auto out = Encoder{content};
    out.u8(token_format);
    out.text(attempt.run.space);
    out.text(attempt.run.id);
    out.svarint(attempt.started.time_since_epoch().count());
    out.varint(attempt.key.fire.raw());
    out.varint(attempt.key.index);
    out.varint(attempt.attempt);
    out.varint(attempt.scope.raw());
    auto mac = mac_of(content, secret_);
    out.raw({reinterpret_cast<const char*>(mac.data()), mac.size()});
    return to_text(content);
}

Result<AttemptId> Tokens::read(std::string_view token) const {
    auto bytes = token.size() > token_bytes_max ? std::string{} : from_text(token);
    auto content =
        std::string_view{bytes}.substr(0, bytes.size() - std::min(bytes.size(), mac_bytes));
    auto mac = std::string_view{bytes}.substr(content.size());
    if (mac.size() != mac_bytes ||
        sodium_memcmp(mac.data(), mac_of(content, secret_).data(), mac_bytes) != 0) {
        return fail(Errc::InvalidInput,
                    "the token is none of this server's: expected the one that the task was called "
                    "with");
    }
    return decode_attempt(content);
}

} // namespace sluice::engine
