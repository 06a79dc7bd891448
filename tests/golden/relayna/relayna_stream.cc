#include "redouble/tests/golden/relayna/relayna_stream.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/relayna/event_stream.h"
#include "redouble/core/relayna/sdk/output_aliases.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/core/store/wrappers/intercepting_store.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/python_json.h"
#include "redouble/sim/operations/relayna/relayna_arguments.h"

namespace redouble::inline v0_1::golden {
namespace {

using relayna::StatusStore;
using relayna::StreamFrame;
using scenarios::StatusArguments;
using sim::ArgumentReader;
using sim::Json;
using sim::OperationContext;
using sim::OperationResult;

// Something that reaches the channel of a task.
struct Write {
  std::string task_id;
  std::optional<python::Value> event;
  std::string payload;  // Without an event.
};

std::vector<Write> ReadWrites(ArgumentReader& reader, std::string_view name,
                              const std::string& task_id) {
  std::vector<Write> writes;
  const Json* array = reader.Find(name);
  if (array == nullptr) return writes;
  for (const Json& item : *array) {
    ArgumentReader inner(item, "/write");
    Write& write = writes.emplace_back();
    write.task_id = inner.OptionalString("task_id").value_or(task_id);
    if (const Json* event = inner.Find("event")) write.event = scenarios::ToValue(*event);
    if (!write.event) write.payload = inner.String("publish");
    reader.Add(inner.Finish());
  }
  return writes;
}

relayna::StreamOptions ReadOptions(ArgumentReader& reader, const std::string& task_id) {
  relayna::StreamOptions options;
  options.task_id = task_id;
  options.last_event_id = reader.OptionalString("last_event_id");
  // A comment follows when nothing more has arrived.
  options.keep_alive = absl::ZeroDuration();
  if (reader.Find("terminal_statuses") != nullptr) {
    const std::vector<std::string> statuses = reader.Strings("terminal_statuses");
    options.terminal_statuses.emplace(statuses.begin(), statuses.end());
  }
  const std::optional<std::string> adapter = reader.OptionalString("adapter");
  if (adapter && *adapter != "document") reader.Refuse("adapter", "expected \"document\"");
  std::optional<relayna::FieldAliases> aliases;
  if (const Json* given = reader.Find("aliases")) {
    aliases.emplace();
    for (const auto& [name, alias] : given->items()) aliases->emplace_back(name, alias);
  }
  options.adapter = [adapter, aliases](python::Value event) {
    if (adapter) event = relayna::WithDocumentId(std::move(event));
    return aliases ? relayna::WithAliases(std::move(event), *aliases) : event;
  };
  return options;
}

base::Task<absl::Status> Perform(const Write& write, StatusStore& statuses, store::Store& store) {
  if (write.event) co_return co_await statuses.SetHistory(write.task_id, *write.event);
  const std::string channel = statuses.ChannelToFollow(write.task_id).name;
  const absl::StatusOr<int64_t> receivers = co_await store::Publish(store, channel, write.payload);
  co_return receivers.status();
}

// Writes before the first request, which is that for the history.
class WritesFirst final : public store::InterceptingStore {
 public:
  WritesFirst(store::Store& inner, std::vector<Write> writes, StatusStore& statuses)
      : InterceptingStore(inner), writes_(std::move(writes)), statuses_(statuses) {}

 private:
  bool Intercepts(const store::Request&) override { return !writes_.empty(); }
  base::Task<absl::StatusOr<store::Reply>> Intercept(const store::Request& request) override {
    const std::vector<Write> writes = std::exchange(writes_, {});
    for (const Write& write : writes) {
      REDOUBLE_CO_RETURN_IF_ERROR(co_await Perform(write, statuses_, inner()));
    }
    co_return co_await Forward(request);
  }

  std::vector<Write> writes_;
  StatusStore& statuses_;
};

// Reads a stream and keeps what it sends.
class Reading {
 public:
  Reading(relayna::EventStream& stream,
          const std::function<std::string(const absl::Status&)>& error_type)
      : stream_(stream), error_type_(error_type) {}

  // Reads until the stream has nothing to send.
  base::Task<void> Read() {
    Json texts = Json::array();
    bool idle = false;
    while (!ended_ && !idle) {
      const absl::StatusOr<std::optional<StreamFrame>> frame = co_await stream_.Next();
      ended_ = !frame.ok() || !frame->has_value();
      if (!frame.ok()) error_ = error_type_(frame.status());
      if (ended_) break;
      texts.push_back((*frame)->Text());
      idle = (*frame)->kind == StreamFrame::Kind::kKeepAlive;
    }
    frames_.push_back(std::move(texts));
  }

  Json Result() const { return Json{{"frames", frames_}, {"error", error_}}; }

 private:
  relayna::EventStream& stream_;
  const std::function<std::string(const absl::Status&)>& error_type_;
  bool ended_ = false;
  Json frames_ = Json::array();
  Json error_;
};

base::Task<OperationResult> Run(OperationContext context, const Json& arguments,
                                std::function<std::string(const absl::Status&)> error_type) {
  ArgumentReader reader(arguments);
  const std::string task_id = reader.String("task_id");
  const relayna::StreamOptions options = ReadOptions(reader, task_id);
  StatusArguments writer(reader, context);
  WritesFirst history(context.store, ReadWrites(reader, "between", task_id), writer.store());
  StatusArguments watched(reader, OperationContext(history, context.clock, context.rng));
  const std::vector<Write> live = ReadWrites(reader, "live", task_id);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  const std::unique_ptr<store::Store> connection = context.connect();
  auto* const source = dynamic_cast<store::MessageSource*>(connection.get());
  if (source == nullptr) {
    co_return absl::UnimplementedError("the connections of this backend receive no messages");
  }
  relayna::EventStream stream(*source, watched.store(), context.clock, options);
  Reading reading(stream, error_type);
  const store::Command ping(store::CommandId::kPing);
  co_await reading.Read();
  for (const Write& write : live) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Perform(write, writer.store(), context.store));
    // A message arrives after the reply to its PUBLISH, and before that to the next command.
    const absl::StatusOr<store::Reply> pong = co_await context.store.Execute(ping);
    REDOUBLE_CO_RETURN_IF_ERROR(pong.status());
    co_await reading.Read();
  }
  co_return reading.Result();
}

}  // namespace

sim::Operation StatusStream(std::function<std::string(const absl::Status&)> error_type) {
  return [error_type = std::move(error_type)](OperationContext context, const Json& arguments) {
    return Run(std::move(context), arguments, error_type);
  };
}

}  // namespace redouble::inline v0_1::golden
