#include "workflow/asl/internal/read/integrations.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "workflow/asl/internal/read/resource.h"

namespace sluice::workflow::asl::internal {

namespace {

using PatternBits = std::uint8_t;

constexpr PatternBits bit_of(Pattern pattern) {
    return static_cast<PatternBits>(1U << static_cast<unsigned>(pattern));
}

constexpr auto by_call = bit_of(Pattern::RequestResponse);
constexpr auto by_job = static_cast<PatternBits>(by_call | bit_of(Pattern::Sync));
constexpr auto by_token = static_cast<PatternBits>(by_call | bit_of(Pattern::WaitForTaskToken));
constexpr auto by_any = static_cast<PatternBits>(by_job | by_token);

struct Integration {
    std::string_view service;
    std::string_view action;
    PatternBits patterns = by_call;
};

constexpr auto optimised = std::to_array<Integration>({
    {"apigateway", "invoke", by_token},
    {"athena", "startQueryExecution", by_job},
    {"athena", "stopQueryExecution"},
    {"athena", "getQueryExecution"},
    {"athena", "getQueryResults"},
    {"batch", "submitJob", by_job},
    {"bedrock", "invokeModel"},
    {"bedrock", "createModelCustomizationJob", by_job},
    {"codebuild", "startBuild", by_job},
    {"codebuild", "stopBuild"},
    {"codebuild", "batchDeleteBuilds"},
    {"codebuild", "batchGetReports"},
    {"codebuild", "startBuildBatch", by_job},
    {"codebuild", "stopBuildBatch"},
    {"codebuild", "retryBuildBatch", by_job},
    {"codebuild", "deleteBuildBatch"},
    {"databrew", "startJobRun", by_job},
    {"dynamodb", "getItem"},
    {"dynamodb", "putItem"},
    {"dynamodb", "deleteItem"},
    {"dynamodb", "updateItem"},
    {"ecs", "runTask", by_any},
    {"eks", "createCluster", by_job},
    {"eks", "deleteCluster", by_job},
    {"eks", "createFargateProfile", by_job},
    {"eks", "deleteFargateProfile", by_job},
    {"eks", "createNodegroup", by_job},
    {"eks", "deleteNodegroup", by_job},
    {"eks", "runJob", by_job},
    {"eks", "call"},
    {"elasticmapreduce", "createCluster", by_job},
    {"elasticmapreduce", "terminateCluster", by_job},
    {"elasticmapreduce", "addStep", by_job},
    {"elasticmapreduce", "cancelStep"},
    {"elasticmapreduce", "setClusterTerminationProtection"},
    {"elasticmapreduce", "modifyInstanceFleetByName"},
    {"elasticmapreduce", "modifyInstanceGroupByName"},
    {"emr-containers", "createVirtualCluster"},
    {"emr-containers", "deleteVirtualCluster", by_job},
    {"emr-containers", "startJobRun", by_job},
    {"emr-serverless", "createApplication", by_job},
    {"emr-serverless", "startApplication", by_job},
    {"emr-serverless", "stopApplication", by_job},
    {"emr-serverless", "deleteApplication", by_job},
    {"emr-serverless", "startJobRun", by_job},
    {"emr-serverless", "cancelJobRun", by_job},
    {"events", "putEvents", by_token},
    {"glue", "startJobRun", by_job},
    {"http", "invoke"},
    {"lambda", "invoke", by_token},
    {"mediaconvert", "createJob", by_job},
    {"sagemaker", "createEndpoint"},
    {"sagemaker", "createEndpointConfig"},
    {"sagemaker", "createHyperParameterTuningJob", by_job},
    {"sagemaker", "createLabelingJob", by_job},
    {"sagemaker", "createModel"},
    {"sagemaker", "createProcessingJob", by_job},
    {"sagemaker", "createTrainingJob", by_job},
    {"sagemaker", "createTransformJob", by_job},
    {"sagemaker", "updateEndpoint"},
    {"sns", "publish", by_token},
    {"sqs", "sendMessage", by_token},
    {"states", "startExecution", by_any | bit_of(Pattern::Sync2)},
});

struct Done {
    std::string_view service;
    std::string_view action;
};

constexpr auto done_here = std::to_array<Done>({
    {"activity", ""},
    {"lambda", "function"},
    {"lambda", "invoke"},
    {"states", "startExecution"},
    {"http", "invoke"},
    {"events", "putEvents"},
    {"sqs", "sendMessage"},
    {"sns", "publish"},
    {"aws-sdk:s3", "getObject"},
    {"aws-sdk:s3", "putObject"},
    {"aws-sdk:s3", "listObjectsV2"},
    {"aws-sdk:sfn", "sendTaskSuccess"},
    {"aws-sdk:sfn", "sendTaskFailure"},
    {"aws-sdk:sfn", "sendTaskHeartbeat"},
    {"aws-sdk:sfn", "startExecution"},
});

bool is_lower(char letter) {
    return letter >= 'a' && letter <= 'z';
}

bool is_word(std::string_view text) {
    return !text.empty() && is_lower(text.front()) && std::ranges::all_of(text, [](char letter) {
        return is_lower(letter) || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9');
    });
}

} // namespace

bool is_known_integration(std::string_view service, std::string_view action, Pattern pattern) {
    constexpr auto sdk = std::string_view{"aws-sdk:"};
    if (service.starts_with(sdk)) {
        return is_word(service.substr(sdk.size())) && is_word(action) &&
               (by_token & bit_of(pattern)) != 0;
    }
    return std::ranges::any_of(optimised, [&](const Integration& known) {
        return known.service == service && known.action == action &&
               (known.patterns & bit_of(pattern)) != 0;
    });
}

bool is_supported(std::string_view service, std::string_view action) {
    return std::ranges::any_of(done_here, [&](const Done& done) {
        return done.service == service && done.action == action;
    });
}

} // namespace sluice::workflow::asl::internal
