// Invalid input, and valid input that looks unusual: both backends return the same clear errors and
// lose no data.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/backends/testing/backends.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using store::Batch;
using store::CommandId;
using store::Reply;
using Words = std::vector<std::string_view>;

constexpr char kWrongType[] = "WRONGTYPE Operation against a key holding the wrong kind of value";

// All 256 byte values, beginning with zero.
std::string AllBytes() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  return bytes;
}

template <typename Backend>
class BadInputTest : public BackendTest<Backend> {
 protected:
  // A string and a list, and their expected unchanged values.
  void Populate() {
    this->Ask({"SET", "text", "abc"});
    this->Ask({"RPUSH", "list", "a", "b"});
  }
  void ExpectNothingChanged() {
    EXPECT_EQ(this->KeyCount(), 2);
    EXPECT_EQ(this->Value("text"), "abc");
    EXPECT_EQ(this->Ask({"LRANGE", "list", "0", "-1"}),
              Reply::Array({Reply::Bulk("a"), Reply::Bulk("b")}));
    EXPECT_EQ(this->Ttl("text"), -1);
    EXPECT_EQ(this->Ttl("list"), -1);
  }
};
TYPED_TEST_SUITE(BadInputTest, Backends, BackendNames);

TYPED_TEST(BadInputTest, KeepsBinaryKeysAndValuesByteForByte) {
  const std::string bytes = AllBytes();
  const std::string other = bytes + "\r\n$-1\r\n";
  store::Store& store = this->store();
  ASSERT_THAT(this->Run(store::Set(store, bytes, other)), IsOkAndHolds(true));
  ASSERT_THAT(this->Run(store::Set(store, "", bytes)), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(store::Get(store, bytes)), IsOkAndHolds(other));
  EXPECT_THAT(this->Run(store::Get(store, "")), IsOkAndHolds(bytes));
  EXPECT_THAT(this->Run(store::Get(store, std::string_view(bytes).substr(0, 255))),
              IsOkAndHolds(std::nullopt));
  ASSERT_THAT(this->Run(store::Rename(store, bytes, other)), IsOk());
  EXPECT_THAT(this->Run(store::Get(store, other)), IsOkAndHolds(other));
  EXPECT_EQ(this->Ask({"KEYS", "*$-1*"}), Reply::Array({Reply::Bulk(other)}));
  EXPECT_EQ(this->KeyCount(), 2);
}

TYPED_TEST(BadInputTest, KeepsHugeKeysAndValues) {
  const std::string key(1 << 20, 'k');
  const std::string value(8 << 20, '\0');
  store::Store& store = this->store();
  ASSERT_THAT(this->Run(store::Set(store, key, value)), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(store::StrLen(store, key)), IsOkAndHolds(8 << 20));
  EXPECT_TRUE(this->Run(store::Get(store, key)).value() == value);
  EXPECT_THAT(this->Run(store::Append(store, key, "end")), IsOkAndHolds((8 << 20) + 3));
  EXPECT_THAT(this->Run(store::GetRange(store, key, -4, -1)),
              IsOkAndHolds(std::string("\0end", 4)));
  EXPECT_THAT(this->Run(store::Get(store, std::string_view(key).substr(1))),
              IsOkAndHolds(std::nullopt));
}

TYPED_TEST(BadInputTest, RefusesAStringBeyondHalfAGigabyte) {
  this->Populate();
  const auto size = this->Run(store::SetRange(this->store(), "text", int64_t{1} << 29, "x"));
  EXPECT_EQ(size.status().message(),
            "ERR string exceeds maximum allowed size (proto-max-bulk-len)");
  this->ExpectNothingChanged();
}

TYPED_TEST(BadInputTest, RefusesAWrongNumberOfArguments) {
  this->Populate();
  for (const Words& words : std::vector<Words>{{"get"},
                                               {"get", "text", "list"},
                                               {"set", "text"},
                                               {"append", "text"},
                                               {"strlen"},
                                               {"getrange", "text", "0"},
                                               {"incr"},
                                               {"incr", "text", "1"},
                                               {"incrby", "n"},
                                               {"mget"},
                                               {"mset", "n"},
                                               {"mset", "n", "1", "m"},
                                               {"msetnx", "n"},
                                               {"setex", "text", "9"},
                                               {"setnx", "n"},
                                               {"getset", "text"},
                                               {"getex"},
                                               {"getdel"},
                                               {"incrbyfloat"},
                                               {"setrange", "text", "1"},
                                               {"del"},
                                               {"unlink"},
                                               {"exists"},
                                               {"type"},
                                               {"rename", "n"},
                                               {"renamenx", "text"},
                                               {"copy", "text"},
                                               {"touch"},
                                               {"expire", "text"},
                                               {"pexpireat", "list"},
                                               {"ttl"},
                                               {"pttl"},
                                               {"persist"},
                                               {"keys"},
                                               {"scan"},
                                               {"randomkey", "1"},
                                               {"dbsize", "1"},
                                               {"select"},
                                               {"echo"},
                                               {"time", "1"},
                                               {"multi", "1"},

                                               {"discard", "1"},
                                               {"watch"}}) {
    const std::string name(words[0]);
    EXPECT_EQ(this->Ask(words),
              Reply::Error("ERR wrong number of arguments for '" + name + "' command"));
  }
  EXPECT_EQ(this->Ask({"exec", "1"}),
            Reply::Error("EXECABORT Transaction discarded because of: wrong number of arguments "
                         "for 'exec' command"));
  this->ExpectNothingChanged();
}

TYPED_TEST(BadInputTest, RefusesCommandsOfStringsOnAList) {
  this->Populate();
  for (const Words& words : std::vector<Words>{{"GET", "list"},
                                               {"SET", "list", "v", "GET"},
                                               {"GETEX", "list", "EX", "9"},
                                               {"GETDEL", "list"},
                                               {"GETSET", "list", "v"},
                                               {"APPEND", "list", "v"},
                                               {"STRLEN", "list"},
                                               {"GETRANGE", "list", "0", "1"},
                                               {"SETRANGE", "list", "0", "v"},
                                               {"INCR", "list"},
                                               {"DECR", "list"},
                                               {"INCRBY", "list", "2"},
                                               {"DECRBY", "list", "2"},
                                               {"INCRBYFLOAT", "list", "0.5"},
                                               {"LPUSH", "text", "v"}}) {
    EXPECT_EQ(this->Ask(words), Reply::Error(kWrongType)) << words[0];
  }
  this->ExpectNothingChanged();
}

TYPED_TEST(BadInputTest, ReturnsTheServersErrorAsAStatusToTypedCommands) {
  this->Populate();
  const absl::Status wrong_type = this->Run(store::Incr(this->store(), "list")).status();
  EXPECT_EQ(wrong_type.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(wrong_type.message(), kWrongType);
  EXPECT_EQ(store::ErrorKindOf(wrong_type), store::ErrorKind::kServer);
  EXPECT_EQ(store::ServerErrorCode(wrong_type), "WRONGTYPE");
  const absl::Status no_number = this->Run(store::Incr(this->store(), "text")).status();
  EXPECT_EQ(no_number.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(no_number.message(), "ERR value is not an integer or out of range");
  this->ExpectNothingChanged();
}

TYPED_TEST(BadInputTest, RunsATransactionWithAWrongCommandNotAtAll) {
  this->Populate();
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kSet, {"text", "changed"});
  batch.Add(CommandId::kGet, {});
  const absl::Status status = this->Run(store::Execute(this->store(), batch)).status();
  EXPECT_EQ(store::ServerErrorCode(status), "EXECABORT") << status;
  this->ExpectNothingChanged();
}

TYPED_TEST(BadInputTest, AnswersTheRestOfAPipelineAroundAWrongCommand) {
  this->Populate();
  Batch batch(Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kGet, {"text"});
  batch.Add(CommandId::kGet, {});
  batch.Add(CommandId::kGet, {"list"});
  batch.Add(CommandId::kStrLen, {"text"});
  ASSERT_OK_AND_ASSIGN(const std::vector<Reply> replies,
                       this->Run(store::Execute(this->store(), batch)));
  EXPECT_EQ(replies,
            (std::vector<Reply>{Reply::Bulk("abc"),
                                Reply::Error("ERR wrong number of arguments for 'get' command"),
                                Reply::Error(kWrongType), Reply::Integer(3)}));
  this->ExpectNothingChanged();
}

TYPED_TEST(BadInputTest, RefusesACommandThatThereIsNot) {
  EXPECT_EQ(this->Ask({"ABACUS", "a", "b c"}),
            Reply::Error("ERR unknown command 'ABACUS', with args beginning with: 'a' 'b c' "));
  EXPECT_EQ(this->Ask({"PING"}), Reply::Status("PONG"));
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
