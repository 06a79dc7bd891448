#include "redouble/core/korvet/errors.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOk;

TEST(ErrorCode, HasTheNumbersAndNamesOfTheKafkaProtocol) {
  const std::vector<std::pair<int, std::string_view>> protocol = {
      {-1, "UNKNOWN_SERVER_ERROR"},
      {0, "NONE"},
      {1, "OFFSET_OUT_OF_RANGE"},
      {2, "CORRUPT_MESSAGE"},
      {3, "UNKNOWN_TOPIC_OR_PARTITION"},
      {7, "REQUEST_TIMED_OUT"},
      {10, "MESSAGE_TOO_LARGE"},
      {12, "OFFSET_METADATA_TOO_LARGE"},
      {15, "COORDINATOR_NOT_AVAILABLE"},
      {17, "INVALID_TOPIC_EXCEPTION"},
      {21, "INVALID_REQUIRED_ACKS"},
      {22, "ILLEGAL_GENERATION"},
      {23, "INCONSISTENT_GROUP_PROTOCOL"},
      {24, "INVALID_GROUP_ID"},
      {25, "UNKNOWN_MEMBER_ID"},
      {27, "REBALANCE_IN_PROGRESS"},
      {35, "UNSUPPORTED_VERSION"},
      {36, "TOPIC_ALREADY_EXISTS"},
      {37, "INVALID_PARTITIONS"},
      {38, "INVALID_REPLICATION_FACTOR"},
      {40, "INVALID_CONFIG"},
      {42, "INVALID_REQUEST"},
      {43, "UNSUPPORTED_FOR_MESSAGE_FORMAT"},
      {56, "KAFKA_STORAGE_ERROR"},
      {68, "NON_EMPTY_GROUP"},
      {69, "GROUP_ID_NOT_FOUND"},
      {76, "UNSUPPORTED_COMPRESSION_TYPE"},
      {87, "INVALID_RECORD"},
      {100, "UNKNOWN_TOPIC_ID"},
      {103, "INCONSISTENT_TOPIC_ID"},
  };
  std::vector<std::pair<int, std::string_view>> table;
  for (const ErrorSpec& spec : ErrorSpecs()) {
    table.emplace_back(static_cast<int>(spec.code), spec.name);
  }
  EXPECT_EQ(table, protocol);
}

TEST(ErrorCode, IsFoundByNumberAndByName) {
  std::set<std::string_view> names;
  for (const ErrorSpec& spec : ErrorSpecs()) {
    EXPECT_EQ(&SpecOf(spec.code), &spec);
    EXPECT_EQ(ErrorName(spec.code), spec.name);
    EXPECT_EQ(FindErrorCode(spec.name), spec.code);
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_FALSE(spec.when.empty()) << spec.name;
  }
  EXPECT_EQ(FindErrorCode("none"), std::nullopt);
  EXPECT_EQ(FindErrorCode(""), std::nullopt);
}

TEST(ErrorCode, OfAnUnknownNumberIsAnUnknownServerError) {
  EXPECT_EQ(SpecOf(static_cast<ErrorCode>(9999)).code, ErrorCode::kUnknownServerError);
  EXPECT_EQ(ErrorName(static_cast<ErrorCode>(9999)), "UNKNOWN_SERVER_ERROR");
}

TEST(ErrorCode, TravelsInAStatus) {
  for (const ErrorSpec& spec : ErrorSpecs()) {
    const absl::Status status = MakeError(spec.code, "why");
    EXPECT_EQ(ErrorCodeOf(status), spec.code) << spec.name;
    EXPECT_EQ(status.code(), spec.status_code) << spec.name;
    EXPECT_EQ(status.ok(), spec.code == ErrorCode::kNone) << spec.name;
  }
  EXPECT_EQ(MakeError(ErrorCode::kInvalidTopic, "the name is empty").message(),
            "INVALID_TOPIC_EXCEPTION: the name is empty");
}

TEST(ErrorCode, OfRedisErrorsSaysWhatAClientMayDoNext) {
  EXPECT_EQ(ErrorCodeOf(absl::OkStatus()), ErrorCode::kNone);
  EXPECT_EQ(ErrorCodeOf(store::OutcomeUnknownError("lost")), ErrorCode::kRequestTimedOut);
  EXPECT_EQ(ErrorCodeOf(store::NotSentError("down")), ErrorCode::kKafkaStorageError);
  EXPECT_EQ(ErrorCodeOf(store::ProtocolError("odd")), ErrorCode::kUnknownServerError);
  EXPECT_EQ(ErrorCodeOf(absl::InvalidArgumentError("odd")), ErrorCode::kUnknownServerError);
  for (const std::string_view refusal : {"LOADING", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "BUSY",
                                         "OOM", "MISCONF", "READONLY", "NOREPLICAS"}) {
    EXPECT_EQ(ErrorCodeOf(store::ServerError(std::string(refusal) + " for now")),
              ErrorCode::kKafkaStorageError)
        << refusal;
  }
  for (const std::string_view error : {"WRONGTYPE Operation against", "ERR syntax error"}) {
    EXPECT_EQ(ErrorCodeOf(store::ServerError(error)), ErrorCode::kUnknownServerError) << error;
  }
}

TEST(ErrorCode, OfAGroupsRequestSaysThatTheCoordinatorIsNotAvailable) {
  const absl::Status down = AsGroupError(store::NotSentError("down"));
  EXPECT_EQ(ErrorCodeOf(down), ErrorCode::kCoordinatorNotAvailable);
  EXPECT_EQ(store::ErrorKindOf(down), store::ErrorKind::kNotSent) << "what happened stays known";
  EXPECT_EQ(ErrorCodeOf(AsGroupError(store::ServerError("LOADING Redis is loading"))),
            ErrorCode::kCoordinatorNotAvailable);
  EXPECT_EQ(ErrorCodeOf(AsGroupError(store::OutcomeUnknownError("lost"))),
            ErrorCode::kRequestTimedOut);
  EXPECT_THAT(AsGroupError(absl::OkStatus()), IsOk());
}

TEST(ErrorCode, CallsRetriableWhatWaitingOrNewMetadataCanHeal) {
  EXPECT_TRUE(SpecOf(ErrorCode::kKafkaStorageError).retriable);
  EXPECT_TRUE(SpecOf(ErrorCode::kUnknownTopicOrPartition).retriable);
  EXPECT_FALSE(SpecOf(ErrorCode::kTopicAlreadyExists).retriable);
  EXPECT_FALSE(SpecOf(ErrorCode::kOffsetOutOfRange).retriable);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
