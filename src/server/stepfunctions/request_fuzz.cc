#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "http/signing/signature.h"
#include "server/stepfunctions/arn.h"
#include "server/stepfunctions/parameters.h"
#include "value/json.h"

using namespace sluice::server::stepfunctions;

// What clients send: signatures, ARNs, tokens of pages. None of it may do more than be refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    if (auto arn = Arn::parse(text)) {
        INVARIANT(!arn->name.empty() || !arn->label.empty(), "an ARN names something");
        static_cast<void>(arn->version());
    }
    if (auto signature = sluice::http::signing::Signature::parse(text)) {
        auto request = sluice::http::Request{.method = sluice::http::Method::Post,
                                             .headers = {{"X-Amz-Date", signature->day}},
                                             .body = std::string{text}};
        INVARIANT(!signature->check(request, "secret", {}), "nobody guesses a signature");
    }
    if (auto body = sluice::value::parse_json(text); body && body->is_map()) {
        static_cast<void>(Page::read(*body, "list"));
        auto known = std::vector<Parameter>{{.name = "a", .kind = Parameter::Kind::Number},
                                            {.name = "b", .most = 3}};
        static_cast<void>(check_parameters(*body, known));
    }
    static_cast<void>(is_name(text));
    return 0;
}
