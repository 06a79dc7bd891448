#include "redouble/backends/memory/commands/streams/stream_replies.h"

#include <utility>

#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/engine_core.h"

namespace redouble::inline v0_1::memory {
namespace {

bool IsWithin(const Stream::Cursor& at, const StreamInterval& interval) {
  return at.valid() && at.id() >= interval.first && at.id() <= interval.last;
}

}  // namespace

Stream::LagRule LagRuleOf(const CommandContext& context) {
  const EngineCore& engine = context.engine();
  if (engine.Has(Feature::kStreamLags)) return Stream::LagRule::kLater;
  if (engine.Has(Feature::kDeletedLags)) return Stream::LagRule::kValkey81;
  return Stream::LagRule::kRedis70;
}

Reply StreamEntryReply(const Stream::Cursor& at) {
  std::vector<Reply> fields;
  fields.reserve(2 * at.field_count());
  at.VisitFields([&](const ListpackValue& field, const ListpackValue& value) {
    fields.push_back(Reply::Bulk(field.ToString()));
    fields.push_back(Reply::Bulk(value.ToString()));
  });
  std::vector<Reply> entry;
  entry.reserve(2);
  entry.push_back(StreamIdReply(at.id()));
  entry.push_back(Reply::Array(std::move(fields)));
  return Reply::Array(std::move(entry));
}

Reply StreamEntryReply(const Stream& stream, StreamId id) {
  return StreamEntryReply(stream.From(id));
}

void VisitStreamEntries(const Stream& stream, const StreamInterval& interval, uint64_t count,
                        bool backwards, absl::FunctionRef<void(const Stream::Cursor&)> visit) {
  Stream::Cursor at = backwards ? stream.BackFrom(interval.last) : stream.From(interval.first);
  for (uint64_t visited = 0; IsWithin(at, interval) && (count == 0 || visited < count); ++visited) {
    visit(at);
    backwards ? at.Previous() : at.Next();
  }
}

std::vector<Reply> StreamEntryReplies(const Stream& stream, const StreamInterval& interval,
                                      uint64_t count) {
  std::vector<Reply> entries;
  VisitStreamEntries(stream, interval, count, /*backwards=*/false,
                     [&](const Stream::Cursor& at) { entries.push_back(StreamEntryReply(at)); });
  return entries;
}

}  // namespace redouble::inline v0_1::memory
