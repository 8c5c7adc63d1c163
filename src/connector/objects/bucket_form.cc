#include "connector/objects/bucket_form.h"

#include <utility>

#include "http/url.h"
#include "secret/secrets.h"
#include "trigger/form_reader.h"

namespace sluice::connector::objects {

namespace {

using Problems = std::vector<trigger::Problem>;

BucketForm read_bucket(const std::string& name, const Value& form, Problems& problems) {
    auto reader = trigger::FormReader{form,
                                      "buckets/" + name,
                                      problems,
                                      {"directory", "endpoint", "bucket", "region", "access_key",
                                       "secret_key", "namespaces", "read_only"}};
    auto bucket = BucketForm{.name = name};
    bucket.directory = reader.text("directory").value_or("");
    bucket.endpoint = reader.text("endpoint").value_or("");
    bucket.bucket = reader.text("bucket").value_or("");
    bucket.region = reader.text("region").value_or(bucket.region);
    bucket.access_key = reader.text("access_key").value_or("");
    bucket.secret_key = reader.text("secret_key").value_or("");
    bucket.is_read_only = reader.boolean("read_only").value_or(false);
    if (form.is_map() && bucket.directory.empty() == bucket.endpoint.empty()) {
        reader.report("directory", "expected either directory or endpoint");
    }
    if (!bucket.endpoint.empty() && !sluice::http::parse_url(bucket.endpoint)) {
        reader.expect("endpoint", "a URL such as https://s3.eu-west-1.amazonaws.com");
    }
    if (bucket.access_key.empty() != bucket.secret_key.empty()) {
        reader.report("secret_key", "expected both access_key and secret_key, or neither");
    } else if (!bucket.secret_key.empty() && !secret::Secrets::has_reference(bucket.secret_key)) {
        reader.report("secret_key",
                      "a secret does not stand in a file: refer to it with ${secret:NAME}");
    }
    if (name == "*" && !bucket.directory.empty()) {
        reader.report("directory", "a directory stands for one bucket: name that");
    }
    if (const auto* spaces = reader.find("namespaces")) {
        for (const auto& each : spaces->is_list() ? spaces->as_list() : std::span<const Value>{}) {
            bucket.namespaces.emplace_back(each.is_string() ? each.as_string() : "");
        }
        if (bucket.namespaces.empty()) {
            reader.expect("namespaces", "a list of names");
        }
    }
    return bucket;
}

} // namespace

std::vector<BucketForm> read_buckets(const Value& section, Problems& problems) {
    auto buckets = std::vector<BucketForm>{};
    if (!section.is_map()) {
        trigger::report(problems, "buckets", "expected buckets by name");
        return buckets;
    }
    for (const auto& [name, form] : section.as_map()) {
        buckets.push_back(read_bucket(std::string{name}, form, problems));
    }
    return buckets;
}

} // namespace sluice::connector::objects
