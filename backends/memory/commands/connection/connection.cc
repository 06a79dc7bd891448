// PING, ECHO, SELECT, HELLO, AUTH, RESET, QUIT.
#include <optional>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/commands/connection/client_name.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/permission.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

// The options of HELLO.
struct HelloOptions {
  std::optional<std::string_view> user;
  std::string_view password = {};
  std::optional<std::string_view> name;
};

// Returns an error reply, or nil if `options` is filled.
Reply ReadHelloOptions(const CommandContext& context, Arguments arguments, HelloOptions& options) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t left = arguments.size() - i - 1;
    if (IsWord(arguments[i], "AUTH") && left >= 2) {
      options.user = arguments[i + 1];
      options.password = arguments[i + 2];
      i += 2;
    } else if (IsWord(arguments[i], "SETNAME") && left >= 1) {
      options.name = arguments[++i];
      if (std::optional<Reply> error = RefuseClientName(context, *options.name))
        return *std::move(error);
    } else {
      return Reply::Error(base::ToStd(
          absl::StrCat("ERR Syntax error in HELLO option '", WordInError(arguments[i]), "'")));
    }
  }
  return Reply::Nil();
}

// Returns an error reply, or nil.
Reply LogIn(CommandContext& context, std::string_view name, std::string_view password) {
  EngineCore& engine = context.engine();
  const AclUser* user = engine.acl().Authenticate(name, password);
  if (user == nullptr) {
    LogFailedLogin(engine, context.session(), context.called_name(), name);
    return Reply::Error("WRONGPASS invalid username-password pair or user is disabled.");
  }
  context.session().LogIn(*user);
  return Reply::Nil();
}

Reply HelloReply(const CommandContext& context) {
  const bool in_cluster = context.engine().cluster() != nullptr;
  const store::VersionSpec& version = context.engine().compatibility().spec();
  const bool is_valkey = version.product == store::Product::kValkey;
  return Reply::Map({Reply::Bulk("server"), Reply::Bulk(is_valkey ? "valkey" : "redis"),
                     Reply::Bulk("version"), Reply::Bulk(version.version), Reply::Bulk("proto"),
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

Reply HandleAuth(CommandContext& context, Arguments arguments) {
  if (arguments.size() > 2) return SyntaxError();
  if (arguments.size() == 1 && !context.engine().acl().default_user().needs_password()) {
    return Reply::Error(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
  }
  const std::string_view user = arguments.size() == 1 ? "default" : arguments[0];
  Reply error = LogIn(context, user, arguments.back());
  return error.is_error() ? error : Reply::Ok();
}

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
  if (Reply error = ReadHelloOptions(context, rest, options); error.is_error()) return error;
  if (options.user) {
    if (Reply error = LogIn(context, *options.user, options.password); error.is_error()) {
      return error;
    }
  }
  if (!context.session().authenticated()) {
    const bool names_protocol = context.engine().Has(Feature::kHelloProtocol);
    return Reply::Error(absl::StrCat(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO ",
        names_protocol ? "<proto> " : "",
        "AUTH <user> <pass> option can be used to authenticate the client and select the RESP "
        "protocol version at the same time"));
  }
  if (options.name) context.session().set_name(*options.name);
  if (version) context.session().set_protocol(static_cast<int>(*version));
  return HelloReply(context);
}

Reply HandleReset(CommandContext& context, Arguments) {
  context.session().Reset();
  return Reply::Status("RESET");
}

Reply HandleQuit(CommandContext& context, Arguments) {
  context.session().HangUp();
  return Reply::Ok();
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

}  // namespace redouble::inline v0_1::memory
