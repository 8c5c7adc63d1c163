#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "value/value.h"
#include "workflow/asl/objects.h"

namespace sluice::workflow::asl {

/// The items that an `ItemReader` reads, a page at a time, so that a million take no more memory
/// than a page.
class ItemPages {
public:
    /// The objects outlive it.
    explicit ItemPages(Objects& objects) : objects_(objects) {}

    /// `{resource, arguments, config, cursor?, most?}` gives `{items, cursor?}`: a cursor where
    /// more follow. Fails with what the service says.
    Result<Value> read(const Value& request);

private:
    /// One file of rows or lines.
    struct Part {
        std::string bucket;
        std::string key;
        bool is_csv = true;
        char delimiter = ',';
        std::vector<std::string> headers; ///< Empty: in the first row.
    };

    Result<Value> read_json(const Value& request, const Value& config);
    Result<Value> read_list(const Value& request);
    /// What the objects of a list have in them.
    Result<Value> read_listed(const Value& request, const Value& config);
    Result<Value> read_parts(const std::vector<Part>& parts, const Value& request);
    Result<std::vector<Part>> parts_of(const Value& arguments, const Value& config);
    Result<std::string> whole(const std::string& bucket, const std::string& key);

    Objects& objects_;
};

} // namespace sluice::workflow::asl
