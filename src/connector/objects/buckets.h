#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "connector/objects/bucket.h"
#include "connector/objects/bucket_form.h"
#include "http/client.h"
#include "secret/secrets.h"

namespace sluice::connector::objects {

/// The buckets that runs may use, by name. May be used from any thread.
class Buckets {
public:
    /// Fails with NotFound for a directory or a secret that is not there. The clock outlives it.
    static Result<std::unique_ptr<Buckets>> open(const std::vector<BucketForm>& forms,
                                                 const secret::Secrets* secrets,
                                                 const Clock& clock);

    /// What runs of a namespace see of them. Fails with Unavailable for a bucket that there is not,
    /// with Conflict for what they may not do with it. It must not outlive this.
    std::unique_ptr<workflow::asl::Objects> seen_by(std::string space) const;

private:
    struct Known {
        BucketForm form;
        std::shared_ptr<Bucket> bucket; ///< Null for `*`: each is made when it is asked for.
    };
    class View;

    explicit Buckets(const Clock& clock) : clock_(clock) {}
    Result<std::shared_ptr<Bucket>> find(std::string_view space, const std::string& name,
                                         bool is_change) const;
    std::shared_ptr<Bucket> make_remote(const BucketForm& form, const std::string& name) const;

    const Clock& clock_;
    std::unique_ptr<sluice::http::Client> client_; ///< Null: all are directories.
    std::map<std::string, Known, std::less<>> known_;
};

} // namespace sluice::connector::objects
