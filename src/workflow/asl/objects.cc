#include "workflow/asl/objects.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/fingerprint.h"
#include "value/json.h"
#include "value/wording.h"

namespace sluice::workflow::asl {

namespace {

Objects::Listed listed_as(const std::string& key, const std::string& content) {
    return {
        .key = key, .bytes = content.size(), .etag = fmt::format("\"{:016x}\"", hash64(content))};
}

} // namespace

Result<ObjectsInMemory> ObjectsInMemory::read_form(const Value& form) {
    auto objects = ObjectsInMemory{};
    if (form.is_null()) {
        return objects;
    }
    if (!form.is_list()) {
        return fail(Errc::InvalidInput,
                    "found {}: expected a list of {{\"bucket\", \"key\", \"body\"}}",
                    value::brief(form, 60));
    }
    for (const auto& each : form.as_list()) {
        const auto* body = each.find("body");
        if (body == nullptr) {
            return fail(Errc::InvalidInput, "object {} has no body: expected its content",
                        value::brief(each, 60));
        }
        auto content = body->is_string() ? std::string{body->as_string()} : value::to_json(*body);
        objects.contents_.insert_or_assign(
            {value::text_at(each, "bucket"), value::text_at(each, "key")}, std::move(content));
    }
    return objects;
}

Result<std::string> ObjectsInMemory::read(const std::string& bucket, const std::string& key,
                                          std::uint64_t offset, std::size_t bytes_max) {
    auto found = contents_.find({bucket, key});
    if (found == contents_.end()) {
        return fail(Errc::NotFound, "The specified key does not exist.");
    }
    return offset >= found->second.size() ? std::string{} : found->second.substr(offset, bytes_max);
}

Result<Objects::Listed> ObjectsInMemory::find(const std::string& bucket, const std::string& key) {
    auto found = contents_.find({bucket, key});
    if (found == contents_.end()) {
        return fail(Errc::NotFound, "The specified key does not exist.");
    }
    return listed_as(key, found->second);
}

Result<std::vector<Objects::Listed>> ObjectsInMemory::list(const std::string& bucket,
                                                           const std::string& prefix,
                                                           const std::string& after,
                                                           std::size_t most) {
    auto listed = std::vector<Listed>{};
    auto from = std::max(prefix, after);
    for (auto at = contents_.lower_bound({bucket, from});
         at != contents_.end() && at->first.first == bucket && listed.size() < most; ++at) {
        if (at->first.second.starts_with(prefix) && at->first.second > after) {
            listed.push_back(listed_as(at->first.second, at->second));
        }
    }
    return listed;
}

Result<void> ObjectsInMemory::write(const std::string& bucket, const std::string& key,
                                    std::string_view content) {
    contents_.insert_or_assign({bucket, key}, std::string{content});
    return {};
}

} // namespace sluice::workflow::asl
