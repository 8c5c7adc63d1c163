#include "connector/objects/buckets.h"

#include <algorithm>
#include <utility>

#include "connector/objects/directory_bucket.h"
#include "connector/objects/s3_bucket.h"

namespace sluice::connector::objects {

namespace {

// A page of items, or a part of an object that is read whole.
constexpr auto answer_bytes_max = std::size_t{16} << 20U;

} // namespace

class Buckets::View final : public workflow::asl::Objects {
public:
    View(const Buckets& buckets, std::string space) : buckets_(buckets), space_(std::move(space)) {}

    Result<std::string> read(const std::string& bucket, const std::string& key,
                             std::uint64_t offset, std::size_t bytes_max) override {
        auto found = TRY(buckets_.find(space_, bucket, false));
        return found->read(key, offset, bytes_max);
    }
    Result<Listed> find(const std::string& bucket, const std::string& key) override {
        auto found = TRY(buckets_.find(space_, bucket, false));
        return found->find(key);
    }
    Result<std::vector<Listed>> list(const std::string& bucket, const std::string& prefix,
                                     const std::string& after, std::size_t most) override {
        auto found = TRY(buckets_.find(space_, bucket, false));
        return found->list(prefix, after, most);
    }
    Result<void> write(const std::string& bucket, const std::string& key,
                       std::string_view content) override {
        auto found = TRY(buckets_.find(space_, bucket, true));
        return found->write(key, content);
    }

private:
    const Buckets& buckets_;
    std::string space_;
};

Result<std::unique_ptr<Buckets>> Buckets::open(const std::vector<BucketForm>& forms,
                                               const secret::Secrets* secrets, const Clock& clock) {
    auto buckets = std::unique_ptr<Buckets>{new Buckets{clock}};
    for (auto form : forms) {
        auto bucket = std::shared_ptr<Bucket>{};
        if (!form.directory.empty()) {
            auto opened = DirectoryBucket::open(form.directory);
            if (!opened) {
                return fail(opened.error().code, "bucket \"{}\": {}", form.name,
                            opened.error().message);
            }
            bucket = *std::move(opened);
        } else {
            if (!buckets->client_) {
                buckets->client_ = sluice::http::Client::create(
                    {.body_bytes_max = answer_bytes_max, .may_reach = {}, .ca_file = {}});
            }
            form.secret_key =
                secrets == nullptr ? form.secret_key : TRY(secrets->expand(form.secret_key));
            bucket = form.name == "*" ? nullptr : buckets->make_remote(form, form.name);
        }
        buckets->known_.insert_or_assign(form.name, Known{form, std::move(bucket)});
    }
    return buckets;
}

std::shared_ptr<Bucket> Buckets::make_remote(const BucketForm& form,
                                             const std::string& name) const {
    auto place = S3Place{.endpoint = *sluice::http::parse_url(form.endpoint),
                         .bucket = form.bucket.empty() ? name : form.bucket,
                         .region = form.region,
                         .access_key = form.access_key,
                         .secret_key = form.secret_key};
    return std::make_shared<S3Bucket>(std::move(place), *client_, clock_);
}

Result<std::shared_ptr<Bucket>> Buckets::find(std::string_view space, const std::string& name,
                                              bool is_change) const {
    auto found = known_.find(name);
    found = found == known_.end() ? known_.find("*") : found;
    const auto* spaces = found == known_.end() ? nullptr : &found->second.form.namespaces;
    auto is_seen = spaces != nullptr && name != "*" &&
                   (spaces->empty() || std::ranges::find(*spaces, space) != spaces->end());
    if (!is_seen) {
        return fail(Errc::Unavailable, "The specified bucket does not exist");
    }
    const auto& [form, bucket] = found->second;
    if (is_change && form.is_read_only) {
        return fail(Errc::Conflict, "Access Denied");
    }
    return bucket ? bucket : make_remote(form, name);
}

std::unique_ptr<workflow::asl::Objects> Buckets::seen_by(std::string space) const {
    return std::make_unique<View>(*this, std::move(space));
}

} // namespace sluice::connector::objects
