#include "redouble/core/store/typed/stream_decode.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::store {
namespace {

// Decodes parts of a reply and records whether any of them has an unexpected type, so that the
// functions below read like the shapes that they expect.
class Shape {
 public:
  bool ok() const { return ok_; }

  StreamId Id(const Reply& reply) {
    if (!Require(reply.is_bulk())) return {};
    const std::optional<StreamId> id = StreamId::Parse(reply.text());
    Require(id.has_value());
    return id.value_or(StreamId());
  }
  std::optional<StreamId> IdOrNil(const Reply& reply) {
    if (reply.is_nil()) return std::nullopt;
    return Id(reply);
  }
  int64_t Integer(const Reply& reply) { return Require(reply.is_integer()) ? reply.integer() : 0; }
  std::optional<int64_t> IntegerOrNil(const Reply& reply) {
    if (reply.is_nil()) return std::nullopt;
    return Integer(reply);
  }
  // Decodes a number that is sent as text.
  int64_t TextInteger(const Reply& reply) {
    const std::optional<int64_t> value = base::ParseInt64(Text(reply));
    Require(value.has_value());
    return value.value_or(0);
  }
  std::string Text(const Reply& reply) {
    return Require(reply.is_bulk()) ? reply.text() : std::string();
  }
  // Returns whether the reply is an array of `size` elements.
  bool Array(const Reply& reply, size_t size) {
    return Require(reply.is_array() && reply.elements().size() == size);
  }
  // Decodes each element of an array.
  template <typename T>
  std::vector<T> All(const Reply& reply, T (*decode)(Shape&, const Reply&)) {
    std::vector<T> values;
    if (!Require(reply.is_array())) return values;
    values.reserve(reply.elements().size());
    for (const Reply& element : reply.elements()) values.push_back(decode(*this, element));
    return values;
  }
  // Returns the value of a key among alternating keys and values.
  const Reply& ValueOf(const Reply& map, std::string_view key) {
    static const Reply& nil = *new Reply();
    if (!Require(map.is_array())) return nil;
    const std::vector<Reply>& elements = map.elements();
    for (size_t i = 0; i + 1 < elements.size(); i += 2) {
      if (elements[i].is_bulk() && elements[i].text() == key) return elements[i + 1];
    }
    Require(false);
    return nil;
  }

 private:
  bool Require(bool condition) {
    ok_ = ok_ && condition;
    return condition;
  }

  bool ok_ = true;
};

template <typename T>
absl::StatusOr<T> Decode(absl::StatusOr<Reply> reply, std::string_view expected,
                         T (*decode)(Shape&, const Reply&)) {
  REDOUBLE_ASSIGN_OR_RETURN(const Reply decoded, DecodeAny(std::move(reply)));
  Shape shape;
  T value = decode(shape, decoded);
  if (shape.ok()) return value;
  return ProtocolError(base::ToStd(absl::StrCat("expected ", base::ToAbsl(expected),
                                                " as the reply, got ", decoded.DebugString())));
}

StreamId ToId(Shape& shape, const Reply& reply) { return shape.Id(reply); }

StreamEntry ToEntry(Shape& shape, const Reply& reply) {
  StreamEntry entry;
  if (!shape.Array(reply, 2)) return entry;
  entry.id = shape.Id(reply.elements()[0]);
  const Reply& fields = reply.elements()[1];
  if (fields.is_nil()) {
    entry.deleted = true;
    return entry;
  }
  std::vector<std::string> texts = shape.All<std::string>(
      fields, [](Shape& inner, const Reply& text) { return inner.Text(text); });
  for (size_t i = 0; i + 1 < texts.size(); i += 2) {
    entry.fields.emplace_back(std::move(texts[i]), std::move(texts[i + 1]));
  }
  return entry;
}

StreamEntries ToStream(Shape& shape, const Reply& reply) {
  StreamEntries stream;
  if (!shape.Array(reply, 2)) return stream;
  stream.key = shape.Text(reply.elements()[0]);
  stream.entries = shape.All(reply.elements()[1], ToEntry);
  return stream;
}

std::pair<std::string, int64_t> ToConsumerCount(Shape& shape, const Reply& reply) {
  if (!shape.Array(reply, 2)) return {};
  return {shape.Text(reply.elements()[0]), shape.TextInteger(reply.elements()[1])};
}

PendingSummary ToSummary(Shape& shape, const Reply& reply) {
  PendingSummary summary;
  if (!shape.Array(reply, 4)) return summary;
  const std::vector<Reply>& parts = reply.elements();
  summary.count = shape.Integer(parts[0]);
  summary.first = shape.IdOrNil(parts[1]);
  summary.last = shape.IdOrNil(parts[2]);
  if (!parts[3].is_nil()) summary.consumers = shape.All(parts[3], ToConsumerCount);
  return summary;
}

PendingEntry ToPending(Shape& shape, const Reply& reply) {
  PendingEntry entry;
  if (!shape.Array(reply, 4)) return entry;
  const std::vector<Reply>& parts = reply.elements();
  entry.id = shape.Id(parts[0]);
  entry.consumer = shape.Text(parts[1]);
  entry.idle = absl::Milliseconds(shape.Integer(parts[2]));
  entry.deliveries = shape.Integer(parts[3]);
  return entry;
}

AutoClaimed ToAutoClaimed(Shape& shape, const Reply& reply) {
  AutoClaimed claimed;
  if (!shape.Array(reply, 3)) return claimed;
  claimed.next = shape.Id(reply.elements()[0]);
  claimed.entries = shape.All(reply.elements()[1], ToEntry);
  claimed.deleted = shape.All(reply.elements()[2], ToId);
  return claimed;
}

StreamInfo ToInfo(Shape& shape, const Reply& reply) {
  StreamInfo info;
  info.length = shape.Integer(shape.ValueOf(reply, "length"));
  info.last_generated_id = shape.Id(shape.ValueOf(reply, "last-generated-id"));
  info.max_deleted_entry_id = shape.Id(shape.ValueOf(reply, "max-deleted-entry-id"));
  info.entries_added = shape.Integer(shape.ValueOf(reply, "entries-added"));
  info.first_entry_id = shape.Id(shape.ValueOf(reply, "recorded-first-entry-id"));
  info.groups = shape.Integer(shape.ValueOf(reply, "groups"));
  return info;
}

StreamGroupInfo ToGroup(Shape& shape, const Reply& reply) {
  StreamGroupInfo info;
  info.name = shape.Text(shape.ValueOf(reply, "name"));
  info.consumers = shape.Integer(shape.ValueOf(reply, "consumers"));
  info.pending = shape.Integer(shape.ValueOf(reply, "pending"));
  info.last_delivered_id = shape.Id(shape.ValueOf(reply, "last-delivered-id"));
  info.entries_read = shape.IntegerOrNil(shape.ValueOf(reply, "entries-read"));
  info.lag = shape.IntegerOrNil(shape.ValueOf(reply, "lag"));
  return info;
}

StreamConsumerInfo ToConsumer(Shape& shape, const Reply& reply) {
  StreamConsumerInfo info;
  info.name = shape.Text(shape.ValueOf(reply, "name"));
  info.pending = shape.Integer(shape.ValueOf(reply, "pending"));
  info.idle = absl::Milliseconds(shape.Integer(shape.ValueOf(reply, "idle")));
  return info;
}

}  // namespace

std::optional<std::string_view> StreamEntry::Find(std::string_view field) const {
  for (const auto& [name, value] : fields) {
    if (name == field) return value;
  }
  return std::nullopt;
}

absl::StatusOr<std::optional<StreamId>> DecodeStreamIdOrNil(absl::StatusOr<Reply> reply) {
  return Decode<std::optional<StreamId>>(
      std::move(reply), "a stream id or nil",
      [](Shape& shape, const Reply& id) { return shape.IdOrNil(id); });
}

absl::StatusOr<std::vector<StreamId>> DecodeStreamIds(absl::StatusOr<Reply> reply) {
  return Decode<std::vector<StreamId>>(
      std::move(reply), "an array of stream ids",
      [](Shape& shape, const Reply& ids) { return shape.All(ids, ToId); });
}

absl::StatusOr<std::vector<StreamEntry>> DecodeStreamEntries(absl::StatusOr<Reply> reply) {
  using Result = std::vector<StreamEntry>;
  return Decode<Result>(std::move(reply), "an array of stream entries",
                        [](Shape& shape, const Reply& entries) {
                          // The reply of XRANGE with COUNT 0.
                          return entries.is_nil() ? Result() : shape.All(entries, ToEntry);
                        });
}

absl::StatusOr<std::vector<StreamEntries>> DecodeStreams(absl::StatusOr<Reply> reply) {
  using Result = std::vector<StreamEntries>;
  return Decode<Result>(std::move(reply), "an array of streams or nil",
                        [](Shape& shape, const Reply& streams) {
                          return streams.is_nil() ? Result() : shape.All(streams, ToStream);
                        });
}

absl::StatusOr<PendingSummary> DecodePendingSummary(absl::StatusOr<Reply> reply) {
  return Decode<PendingSummary>(std::move(reply), "a summary of pending entries", ToSummary);
}

absl::StatusOr<std::vector<PendingEntry>> DecodePendingEntries(absl::StatusOr<Reply> reply) {
  return Decode<std::vector<PendingEntry>>(
      std::move(reply), "an array of pending entries",
      [](Shape& shape, const Reply& entries) { return shape.All(entries, ToPending); });
}

absl::StatusOr<AutoClaimed> DecodeAutoClaimed(absl::StatusOr<Reply> reply) {
  return Decode<AutoClaimed>(std::move(reply), "what XAUTOCLAIM claimed", ToAutoClaimed);
}

absl::StatusOr<StreamInfo> DecodeStreamInfo(absl::StatusOr<Reply> reply) {
  return Decode<StreamInfo>(std::move(reply), "a stream's information", ToInfo);
}

absl::StatusOr<std::vector<StreamGroupInfo>> DecodeStreamGroups(absl::StatusOr<Reply> reply) {
  return Decode<std::vector<StreamGroupInfo>>(
      std::move(reply), "an array of groups",
      [](Shape& shape, const Reply& groups) { return shape.All(groups, ToGroup); });
}

absl::StatusOr<std::vector<StreamConsumerInfo>> DecodeStreamConsumers(absl::StatusOr<Reply> reply) {
  return Decode<std::vector<StreamConsumerInfo>>(
      std::move(reply), "an array of consumers",
      [](Shape& shape, const Reply& consumers) { return shape.All(consumers, ToConsumer); });
}

}  // namespace redouble::inline v0_1::store
