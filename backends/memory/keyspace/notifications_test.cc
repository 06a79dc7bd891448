#include "redouble/backends/memory/keyspace/notifications.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::memory {
namespace {

TEST(Notifications, AreOffByDefault) {
  EXPECT_FALSE(Notifications().Wants(EventClass::kString));
  EXPECT_FALSE(Notifications::Parse("").value().Wants(EventClass::kString));
}

TEST(Notifications, NeedAChannelAndAClass) {
  EXPECT_FALSE(Notifications::Parse("KE").value().Wants(EventClass::kString));
  EXPECT_FALSE(Notifications::Parse("A").value().Wants(EventClass::kString));
  EXPECT_TRUE(Notifications::Parse("K$").value().Wants(EventClass::kString));
  EXPECT_FALSE(Notifications::Parse("K$").value().Wants(EventClass::kList));
  EXPECT_FALSE(Notifications::Parse("K$").value().by_event());
  EXPECT_TRUE(Notifications::Parse("xE").value().by_event());
}

TEST(Notifications, WriteTheirLettersInOneOrder) {
  const auto letters = [](std::string_view text) {
    return Notifications::Parse(text).value().Letters();
  };
  EXPECT_EQ(letters(""), "");
  EXPECT_EQ(letters("EKA"), "AKE");
  EXPECT_EQ(letters("g$lshzxetd"), "A");
  EXPECT_EQ(letters("nzKmx"), "zxnKm");
  EXPECT_EQ(letters("AnEm"), "AEm");
}

TEST(Notifications, OfAllClassesLeaveOutMissesAndNewKeys) {
  const Notifications all = Notifications::Parse("KEA").value();
  for (const char letter : std::string_view("g$lshzxetd")) {
    EXPECT_TRUE(all.Wants(static_cast<EventClass>(letter))) << letter;
  }
  EXPECT_FALSE(all.Wants(EventClass::kKeyMiss));
  EXPECT_FALSE(all.Wants(EventClass::kNew));
  EXPECT_TRUE(Notifications::Parse("KEAmn").value().Wants(EventClass::kNew));
}

TEST(Notifications, KnowTheirLetters) { EXPECT_EQ(Notifications::Parse("KEQ"), std::nullopt); }

class Collector final : public store::PushListener {
 public:
  void OnPush(const store::Reply& push) override {
    const store::Message message = *store::ReadMessage(push);
    events.push_back(message.channel + " " + message.payload);
  }
  std::vector<std::string> events;
};

std::vector<std::string> EventsOf(std::string letters) {
  base::VirtualClock clock(absl::UnixEpoch());
  EngineOptions engine_options;
  engine_options.notify_keyspace_events = std::move(letters);
  Engine engine(clock, engine_options);
  const std::unique_ptr<Session> session = engine.Connect();
  const std::unique_ptr<Session> subscriber = engine.Connect();
  Collector collector;
  subscriber->Listen(&collector);
  const std::vector<std::string_view> patterns = {"__key*"};
  EXPECT_TRUE(base::Run(store::PSubscribe(*subscriber, patterns)).ok());
  const store::SetOptions options = {.expiry = store::Expiry::In(absl::Seconds(1))};
  EXPECT_TRUE(base::Run(store::Get(*session, "k")).ok());
  EXPECT_TRUE(base::Run(store::Set(*session, "k", "v", options)).ok());
  clock.Advance(absl::Seconds(1));
  collector.events.push_back("at the deadline");
  clock.Advance(absl::Milliseconds(1));
  return collector.events;
}

using Events = std::vector<std::string>;

TEST(KeyspaceEvents, ArePublishedByKeyAndByEvent) {
  EXPECT_EQ(EventsOf("KEA"),
            (Events{"__keyspace@0__:k set", "__keyevent@0__:set k", "__keyspace@0__:k expire",
                    "__keyevent@0__:expire k", "at the deadline", "__keyspace@0__:k expired",
                    "__keyevent@0__:expired k"}));
}

TEST(KeyspaceEvents, AreThoseAskedFor) {
  EXPECT_EQ(EventsOf("Ex"), (Events{"at the deadline", "__keyevent@0__:expired k"}));
  EXPECT_EQ(EventsOf("Kmn"),
            (Events{"__keyspace@0__:k keymiss", "__keyspace@0__:k new", "at the deadline"}));
}

TEST(KeyspaceEvents, AreNotPublishedWithAnUnknownLetter) {
  EXPECT_EQ(EventsOf("KEAQ"), (Events{"at the deadline"}));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
