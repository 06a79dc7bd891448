#include "redouble/core/base/text/server_sent_event.h"

#include <gtest/gtest.h>

namespace redouble::inline v0_1::base {
namespace {

TEST(ServerSentEvent, HasALinePerMember) {
  EXPECT_EQ(FormatServerSentEvent({"e1", "status", "{}"}), "id: e1\nevent: status\ndata: {}\n\n");
  EXPECT_EQ(FormatServerSentEvent({std::nullopt, "event", "[1]"}), "event: event\ndata: [1]\n\n");
  EXPECT_EQ(FormatServerSentEvent({"", "event", ""}), "id: \nevent: event\ndata: \n\n");
}

}  // namespace
}  // namespace redouble::inline v0_1::base
