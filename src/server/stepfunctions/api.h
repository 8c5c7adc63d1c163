#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/access_keys.h"
#include "server/protocol.h"
#include "server/route_table.h"
#include "server/services.h"
#include "server/stepfunctions/arn.h"

namespace sluice::server::stepfunctions {

struct World;

/// The API of AWS Step Functions (AWS JSON 1.0): `POST /` with `X-Amz-Target:
/// AWSStepFunctions.StartExecution`. State machines are definitions, executions are runs,
/// activities are functions that workers ask for tasks.
class Api final : public Protocol {
public:
    /// Of the documents that it keeps.
    static std::vector<std::string> kinds();

    /// Services and keys outlive it.
    Api(const Services& services, const AccessKeys& keys, ArnMaker arns);
    ~Api() override;

    /// A route for each operation; it must outlive them.
    void add_routes(RouteTable& routes);

    bool speaks(const http::Request& request) const override;
    std::vector<std::string> segments(const http::Request& request) const override;
    std::string_view host(std::string_view name) const override;
    bool is_signed(const http::Request& request) const override;
    std::variant<Caller, Problem> signer_of(const http::Request& request) const override;
    Reply translated(Reply reply) const override;

private:
    const Services& services_;
    const AccessKeys& keys_;
    std::unique_ptr<World> world_;
};

} // namespace sluice::server::stepfunctions
