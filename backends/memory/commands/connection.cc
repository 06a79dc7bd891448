// PING, ECHO, SELECT, HELLO, RESET.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "backends/memory/commands/argument.h"
#include "backends/memory/engine.h"
#include "backends/memory/handlers.h"
#include "backends/memory/session.h"
#include "core/base/redis_number.h"

namespace redouble::memory {
namespace {

// What follows the version in HELLO.
struct HelloOptions {
  std::optional<std::string_view> user;
  std::optional<std::string_view> name;
};

// An error reply, or nil and `options` filled.
Reply ReadHelloOptions(Arguments arguments, HelloOptions& options) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t left = arguments.size() - i - 1;
    if (IsWord(arguments[i], "AUTH") && left >= 2) {
      options.user = arguments[i + 1];
      i += 2;
    } else if (IsWord(arguments[i], "SETNAME") && left >= 1) {
      options.name = arguments[++i];
      const bool printable = std::all_of(options.name->begin(), options.name->end(),
                                         [](char c) { return c >= '!' && c <= '~'; });
      if (!printable) {
        return Reply::Error(
            "ERR Client names cannot contain spaces, newlines or special characters.");
      }
    } else {
      return Reply::Error(base::ToStd(
          absl::StrCat("ERR Syntax error in HELLO option '", WordInError(arguments[i]), "'")));
    }
  }
  return Reply::Nil();
}

Reply HelloReply(const CommandContext& context) {
  const bool in_cluster = context.engine().cluster() != nullptr;
  return Reply::Map({Reply::Bulk("server"), Reply::Bulk("redis"), Reply::Bulk("version"),
                     Reply::Bulk("7.0.15"), Reply::Bulk("proto"),
                     Reply::Integer(context.session().protocol()), Reply::Bulk("id"),
                     Reply::Integer(context.session().id()), Reply::Bulk("mode"),
                     Reply::Bulk(in_cluster ? "cluster" : "standalone"), Reply::Bulk("role"),
                     Reply::Bulk("master"), Reply::Bulk("modules"), Reply::EmptyArray()});
}

}  // namespace

Reply HandlePing(CommandContext& context, Arguments arguments) {
  if (arguments.size() > 1) {
    return WrongArity("ping");
  }
  if (context.session().is_subscribed() && context.session().protocol() == 2) {
    return Reply::Array({Reply::Bulk("pong"), Reply::Bulk(arguments.empty() ? "" : arguments[0])});
  }
  return arguments.empty() ? Reply::Status("PONG") : Reply::Bulk(arguments[0]);
}

// The one user there is, "default", needs no password.
Reply HandleHello(CommandContext& context, Arguments arguments) {
  std::optional<int64_t> version;
  if (!arguments.empty()) {
    version = base::ParseInt64(arguments[0]);
    if (!version) {
      return Reply::Error("ERR Protocol version is not an integer or out of range");
    }
    if (*version != 2 && *version != 3) return Reply::Error("NOPROTO unsupported protocol version");
  }
  HelloOptions options;
  const Arguments rest = arguments.empty() ? arguments : arguments.subspan(1);
  if (Reply error = ReadHelloOptions(rest, options); error.is_error()) return error;
  if (options.user && *options.user != "default") {
    return Reply::Error("WRONGPASS invalid username-password pair or user is disabled.");
  }
  if (options.name) context.session().set_name(*options.name);
  if (version) context.session().set_protocol(static_cast<int>(*version));
  return HelloReply(context);
}

Reply HandleReset(CommandContext& context, Arguments) {
  context.session().Reset();
  return Reply::Status("RESET");
}

Reply HandleEcho(CommandContext&, Arguments arguments) { return Reply::Bulk(arguments[0]); }

Reply HandleSelect(CommandContext& context, Arguments arguments) {
  int32_t index;
  if (std::optional<Reply> error = ReadInt32(arguments[0], index)) return *std::move(error);
  if (context.engine().cluster() != nullptr && index != 0) {
    return Reply::Error("ERR SELECT is not allowed in cluster mode");
  }
  if (index < 0 || index >= context.engine().database_count()) {
    return Reply::Error(error_text::kDbIndexOutOfRange);
  }
  context.session().Select(index);
  return Reply::Ok();
}

}  // namespace redouble::memory
