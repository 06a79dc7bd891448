#include "redouble/core/store/pubsub/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::store {
namespace {

using base::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> CommandsOf(const PublishedChannels& channels) {
  Batch batch(Batch::Atomicity::kPipeline);
  AddPublish(batch, channels, "text");
  std::vector<std::string> commands;
  for (const Command& command : batch.commands()) {
    std::string words(command.name());
    for (const std::string_view argument : command.arguments()) {
      words.append(" ").append(argument);
    }
    commands.push_back(words);
  }
  return commands;
}

TEST(PublishedChannels, AreThoseOfTheKind) {
  EXPECT_THAT(CommandsOf(PublishedChannels(ChannelKind::kDocumented, "c", "{c}")),
              ElementsAre("publish c text"));
  EXPECT_THAT(CommandsOf(PublishedChannels(ChannelKind::kSharded, "c", "{c}")),
              ElementsAre("spublish {c} text"));
  EXPECT_THAT(CommandsOf(PublishedChannels(ChannelKind::kBoth, "c", "{c}")),
              ElementsAre("publish c text", "spublish {c} text"));
  EXPECT_THAT(CommandsOf(PublishedChannels()), IsEmpty());
}

TEST(PublishedChannels, AreFollowedOnTheShardChannelIfThereIsOne) {
  EXPECT_EQ(PublishedChannels(ChannelKind::kDocumented, "c", "{c}").followed(),
            (Channel{"c", false}));
  EXPECT_EQ(PublishedChannels(ChannelKind::kSharded, "c", "{c}").followed(),
            (Channel{"{c}", true}));
  EXPECT_EQ(PublishedChannels(ChannelKind::kBoth, "c", "{c}").followed(), (Channel{"{c}", true}));
}

TEST(ChannelKind, IsReadFromItsName) {
  for (const ChannelKind kind :
       {ChannelKind::kDocumented, ChannelKind::kSharded, ChannelKind::kBoth}) {
    EXPECT_EQ(ParseChannelKind(kChannelKindNames[static_cast<size_t>(kind)]).value(), kind);
  }
  const absl::Status status = ParseChannelKind("shared").status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(status.message(), "expected documented, sharded or both, got 'shared'");
}

struct Settings {
  ChannelKind channels = ChannelKind::kSharded;
};

TEST(ChannelKind, OfABlankValueIsTheDefault) {
  Settings settings;
  EXPECT_TRUE((ReadChannelKind<Settings, &Settings::channels>("", settings).ok()));
  EXPECT_EQ(settings.channels, ChannelKind::kSharded);
  EXPECT_TRUE((ReadChannelKind<Settings, &Settings::channels>("both", settings).ok()));
  EXPECT_EQ(settings.channels, ChannelKind::kBoth);
}

}  // namespace
}  // namespace redouble::inline v0_1::store
