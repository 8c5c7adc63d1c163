#include "workflow/asl/map_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workflow/asl/testing/machine_run.h"

namespace sluice::workflow::asl {
namespace {

using testing::MachineRun;

class MapRunsTest : public MachineRun {
protected:
    /// Of a machine with one, in batches of two.
    void begin_map(std::string_view input) {
        start(R"({"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "MaxConcurrency": 2,
            "ToleratedFailurePercentage": 50, "ItemBatcher": {"MaxItemsPerBatch": 2},
            "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
                "StartAt": "T", "States": {"T": {"Type": "Task", "End": true,
                    "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f"}}}}}})",
              input);
    }

    /// What the run tells when it is decided again.
    MapRun heard() {
        map_runs_.close(state_.progress);
        EXPECT_EQ(map_runs_.all().size(), 1U);
        return map_runs_.all().front();
    }
};

TEST_F(MapRunsTest, CountItemsAndExecutions) {
    begin_map("[1,2,3,4,5]");
    answer("M/0/T", 1);

    auto run = heard();

    EXPECT_EQ(run.arn, "arn:aws:states:us-east-1:123456789012:mapRun:machine/M:run-3");
    EXPECT_EQ(run.status, "RUNNING");
    EXPECT_EQ(run.concurrency_max, 2);
    EXPECT_EQ(run.tolerated_percentage, 50);
    EXPECT_EQ(run.executions.total, 3U);
    EXPECT_EQ(run.executions.succeeded, 1U);
    EXPECT_EQ(run.executions.running, 2U);
    EXPECT_EQ(run.items.total, 5U);
    EXPECT_EQ(run.items.succeeded, 2U);
    EXPECT_EQ(run.items.running, 3U);
}

TEST_F(MapRunsTest, TellHowChildrenEnded) {
    begin_map("[1,2,3,4,5,6]");
    fail("M/0/T", "Oops");
    fail("M/1/T", "Oops");

    auto run = heard();

    EXPECT_EQ(run.status, "FAILED");
    EXPECT_EQ(run.executions.failed, 2U);
    EXPECT_EQ(run.executions.aborted, 1U);
    EXPECT_EQ(run.executions.pending(), 0U);
}

} // namespace
} // namespace sluice::workflow::asl
