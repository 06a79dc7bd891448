// Uses each library of system_libraries.bzl once, so that a missing package or a wrong link flag
// fails here, with the library's name. Also checks that the compiler's coroutines work with the
// sanitizers of the configuration.

#include <hiredis/hiredis.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>

#include <CLI/CLI.hpp>
#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <coroutine>
#include <cstdlib>
#include <lua.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/hash/hash.h"
#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "benchmark/benchmark.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace {

using ::testing::ElementsAre;

TEST(Abseil, CarriesStatusAndPayload) {
  absl::StatusOr<int> value = absl::NotFoundError("no such key");
  EXPECT_EQ(value.status().ToString(), "NOT_FOUND: no such key");
  absl::Status status = absl::UnavailableError("closed");
  status.SetPayload("redouble", absl::Cord("not sent"));
  EXPECT_EQ(status.GetPayload("redouble"), absl::Cord("not sent"));
}

TEST(Abseil, FormatsTextAndTime) {
  EXPECT_EQ(absl::StrCat("key:", 7), "key:7");
  EXPECT_EQ(absl::StrFormat("%.17g", 0.1), "0.10000000000000001");
  EXPECT_EQ(absl::FormatDuration(absl::Milliseconds(1500)), "1.5s");
  EXPECT_EQ(absl::FormatTime(absl::FromUnixSeconds(0), absl::UTCTimeZone()),
            "1970-01-01T00:00:00+00:00");
}

TEST(Abseil, HasContainers) {
  absl::flat_hash_map<std::string, int> map = {{"a", 1}};
  absl::flat_hash_set<int> set = {1, 1, 2};
  absl::btree_map<int, int> ordered = {{2, 0}, {1, 0}};
  absl::InlinedVector<int, 4> inlined = {1, 2};
  EXPECT_EQ(map.at("a"), 1);
  EXPECT_EQ(set.size(), 2u);
  EXPECT_EQ(ordered.begin()->first, 1);
  EXPECT_EQ(absl::MakeSpan(inlined).size(), 2u);
  EXPECT_EQ(absl::HashOf(1), absl::HashOf(1));
}

TEST(Abseil, HasLocksAndSeededRandomNumbers) {
  absl::Mutex mutex;
  absl::MutexLock lock(&mutex);
  std::seed_seq seed = {1, 2, 3};
  absl::BitGen generator(seed);
  EXPECT_LT(absl::Uniform(generator, 0, 10), 10);
}

TEST(Boost, RanksAnOrderedIndex) {
  namespace index = boost::multi_index;
  boost::multi_index_container<int, index::indexed_by<index::ranked_unique<index::identity<int>>>>
      set = {30, 10, 20};
  EXPECT_EQ(set.rank(set.find(20)), 1u);
}

TEST(Boost, CountsWithoutEnd) {
  boost::multiprecision::cpp_int number(std::string(40, '9'));
  ++number;
  EXPECT_EQ(number.str(), "1" + std::string(40, '0'));
}

TEST(Boost, RunsAnAsioCoroutineAndCancelsAnOperation) {
  boost::asio::io_context context;
  boost::system::error_code error;
  boost::asio::cancellation_signal signal;
  boost::asio::steady_timer timer(context, std::chrono::hours(1));
  auto wait = [&]() -> boost::asio::awaitable<void> {
    co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, error));
  };
  boost::asio::co_spawn(context, wait(),
                        boost::asio::bind_cancellation_slot(signal.slot(), boost::asio::detached));
  boost::asio::post(context, [&] { signal.emit(boost::asio::cancellation_type::all); });
  context.run();
  EXPECT_EQ(error, boost::asio::error::operation_aborted);
}

TEST(OpenSsl, MakesAContextForAsioAndHashes) {
  boost::asio::ssl::context context(boost::asio::ssl::context::tls_client);
  EXPECT_NE(SSL_CTX_get_cert_store(context.native_handle()), nullptr);
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>("abc"), 3, digest);
  EXPECT_EQ(digest[0], 0xa9);
}

TEST(Hiredis, FormatsACommandAndReadsAReply) {
  char* command = nullptr;
  ASSERT_EQ(redisFormatCommand(&command, "GET %b", "k", size_t{1}), 20);
  EXPECT_STREQ(command, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
  redisFreeCommand(command);

  redisReader* reader = redisReaderCreate();
  void* reply = nullptr;
  ASSERT_EQ(redisReaderFeed(reader, ":7\r\n", 4), REDIS_OK);
  ASSERT_EQ(redisReaderGetReply(reader, &reply), REDIS_OK);
  EXPECT_EQ(static_cast<redisReply*>(reply)->integer, 7);
  freeReplyObject(reply);
  redisReaderFree(reader);
}

// A Lua error that passes a C++ frame must run its destructors.
TEST(Lua, ErrorsUnwindCppFrames) {
  std::unique_ptr<lua_State, decltype(&lua_close)> lua(luaL_newstate(), lua_close);
  static int destroyed = 0;
  struct CountsDestruction {
    ~CountsDestruction() { ++destroyed; }
  };
  lua_pushcfunction(lua.get(), [](lua_State* state) {
    CountsDestruction counts;
    return luaL_error(state, "refused");
  });
  EXPECT_EQ(lua_pcall(lua.get(), 0, 0, 0), LUA_ERRRUN);
  EXPECT_STREQ(lua_tostring(lua.get(), -1), "refused");
  EXPECT_EQ(destroyed, 1);
}

TEST(NlohmannJson, KeepsFieldOrder) {
  EXPECT_EQ(nlohmann::ordered_json::parse(R"({"b":1,"a":[2.5]})").dump(), R"({"b":1,"a":[2.5]})");
}

TEST(Cli11, ParsesASubcommand) {
  CLI::App app;
  int seeds = 0;
  app.add_subcommand("explore")->add_option("--seeds", seeds);
  app.parse("explore --seeds 12");
  EXPECT_EQ(seeds, 12);
}

TEST(Benchmark, Links) {
  int value = 1;
  benchmark::DoNotOptimize(value);
  EXPECT_FALSE(benchmark::ReportUnrecognizedArguments(1, nullptr));
}

TEST(GoogleMock, HasMatchers) { EXPECT_THAT((std::vector<int>{1, 2}), ElementsAre(1, 2)); }

RC_GTEST_PROP(RapidCheck, ReversingTwiceIsTheIdentity, (const std::vector<int>& values)) {
  std::vector<int> twice(values.rbegin(), values.rend());
  twice = std::vector<int>(twice.rbegin(), twice.rend());
  RC_ASSERT(twice == values);
}

// A minimal coroutine: it starts on resume, and the caller takes the value and destroys the frame.
struct Answer {
  struct promise_type {
    int value = 0;
    Answer get_return_object() {
      return Answer(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_value(int result) { value = result; }
    void unhandled_exception() { std::abort(); }
  };

  explicit Answer(std::coroutine_handle<promise_type> handle) : handle(handle) {}
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer() { handle.destroy(); }

  std::coroutine_handle<promise_type> handle;
};

Answer Add(int left, int right) { co_return left + right; }

TEST(Coroutine, ReturnsItsValue) {
  Answer answer = Add(3, 4);
  answer.handle.resume();
  ASSERT_TRUE(answer.handle.done());
  EXPECT_EQ(answer.handle.promise().value, 7);
}

}  // namespace
