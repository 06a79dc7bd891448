#include "redouble/backends/redis/fsm/subscribe/topic.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Reply;

constexpr std::array<std::string_view, kTopicKinds> kMessages = {"message", "pmessage", "smessage"};

bool SameWord(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase(base::ToAbsl(a), base::ToAbsl(b));
}

}  // namespace

std::optional<TopicCommand> TopicCommandOf(const store::Request& request) {
  if (request.kind() != store::Request::Kind::kCommand) return std::nullopt;
  const store::Command& command = request.commands()[0];
  for (size_t kind = 0; kind < kTopicKinds; ++kind) {
    const auto topic_kind = static_cast<TopicKind>(kind);
    if (SameWord(command.name(), kTopicWords[kind].unsubscribe)) {
      return TopicCommand{topic_kind, /*subscribes=*/false};
    }
    if (SameWord(command.name(), kTopicWords[kind].subscribe) && !command.arguments().empty()) {
      return TopicCommand{topic_kind, /*subscribes=*/true};
    }
  }
  return std::nullopt;
}

std::string_view WordOfPush(const Reply& reply) {
  if (!reply.is_array() || reply.elements().empty() || !reply.elements()[0].is_bulk()) return {};
  return reply.elements()[0].text();
}

bool IsMessage(const Reply& push) {
  const std::string_view word = WordOfPush(push);
  return word == kMessages[0] || word == kMessages[1] || word == kMessages[2];
}

std::optional<Topic> TopicOf(const Reply& push) {
  const std::string_view word = WordOfPush(push);
  if (word.empty() || push.elements().size() < 2 || !push.elements()[1].is_bulk()) {
    return std::nullopt;
  }
  for (size_t kind = 0; kind < kTopicKinds; ++kind) {
    if (word == kMessages[kind] || word == kTopicWords[kind].subscribe ||
        word == kTopicWords[kind].unsubscribe) {
      return Topic{static_cast<TopicKind>(kind), push.elements()[1].text()};
    }
  }
  return std::nullopt;
}

Reply Confirmation(TopicKind kind, bool subscribed, Reply name, size_t count) {
  const std::string_view word = subscribed ? WordsOf(kind).subscribe : WordsOf(kind).unsubscribe;
  return Reply::Array({Reply::Bulk(std::string(word)), std::move(name),
                       Reply::Integer(static_cast<int64_t>(count))});
}

}  // namespace redouble::inline v0_1::redis
