#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <librdkafka/rdkafka.h>

#include "base/result.h"
#include "connector/kafka/options.h"

namespace sluice::connector::kafka::internal {

struct ConfDeleter {
    void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
};
using Conf = std::unique_ptr<rd_kafka_conf_t, ConfDeleter>;

enum class Role : std::uint8_t { Consumer, Producer };

/// Whether a name that we do not know may be librdkafka's.
bool is_property_name(std::string_view name);

/// Fails with InvalidInput when librdkafka does not know it or does not take the value, and when it
/// is one that our promises hang on. Values of secrets are not shown.
Result<void> check_property(std::string_view name, std::string_view value);

/// Our own settings, then the user's.
Result<Conf> make_conf(Role role, const Options& options);

/// What must never be told: passwords, keys, tokens.
std::vector<std::string> secrets_of(const Options& options);

} // namespace sluice::connector::kafka::internal
