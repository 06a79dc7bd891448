// CommandSpans: a span of a trace for each request, in the shape of OpenTelemetry.
//
// It needs no OpenTelemetry library: it gives finished spans to a function of the program, which
// hands them to its exporter.
//
//   redis::CommandSpans spans(clock, [&](redis::CommandSpan span) { exporter.Add(std::move(span));
//   }); spans.set_parent([] { return CurrentSpanContext(); });   // Runs where the request is
//   submitted. hooks.command = spans.hook();
//
// Names and attributes follow the semantic conventions for Redis: db.system.name,
// db.operation.name, db.operation.batch.size, db.response.status_code, error.type, server.address,
// server.port, network.peer.address, network.peer.port and db.namespace. Two attributes are our
// own: redouble.sends and redouble.redirects. Each redirection is an event of the span.
// db.query.text is left out, because arguments may be secret.
//
// Thread-safety: only on the client's thread or strand.
//
// Source: OpenTelemetry, "Semantic conventions for Redis client operations".
#ifndef REDOUBLE_BACKENDS_REDIS_OBSERVE_COMMAND_SPANS_H_
#define REDOUBLE_BACKENDS_REDIS_OBSERVE_COMMAND_SPANS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "redouble/backends/redis/observe/command_event.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/time/clock.h"

namespace redouble::inline v0_1::redis {

// A finished span. Its kind is CLIENT.
struct CommandSpan {
  using Value = std::variant<std::string, int64_t>;
  struct Event {
    std::string name;  // "redirect".
    absl::Time time;
    std::vector<std::pair<std::string, Value>> attributes;
  };

  std::string name;  // As RequestName.
  absl::Time start;
  absl::Time end;
  bool failed = false;      // The span's status is Error.
  std::string description;  // Of a failure; never contains an argument.
  std::string parent;       // What the function of set_parent returned.
  std::vector<std::pair<std::string, Value>> attributes;
  std::vector<Event> events;
};

class CommandSpans {
 public:
  // `clock` tells the time of the spans. `options` are those of the client; they give db.namespace,
  // server.address and server.port. Both `clock` and this object must outlive the client.
  CommandSpans(const base::Clock& clock, const Options& options,
               std::function<void(CommandSpan)> finished);

  // `parent` returns the context of the caller's span in any form; it is called during Submit.
  void set_parent(std::function<std::string()> parent) { parent_ = std::move(parent); }

  // The hook for one client.
  CommandHook hook();

 private:
  void Take(const CommandEvent& event);
  void Begin(const CommandEvent& event);
  void Finish(const CommandEvent& event, CommandSpan span);

  const base::Clock& clock_;
  const std::function<void(CommandSpan)> finished_;
  std::vector<std::pair<std::string, CommandSpan::Value>> common_;
  std::function<std::string()> parent_;
  std::map<uint64_t, CommandSpan> open_;  // By the id of the request.
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_OBSERVE_COMMAND_SPANS_H_
