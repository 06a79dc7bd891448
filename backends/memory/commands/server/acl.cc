// ACL: users, permissions and the log of denials.
#include "redouble/backends/memory/acl/acl.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/acl/acl_file.h"
#include "redouble/backends/memory/acl/merged_rules.h"
#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/compatibility/server_text.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/permission.h"
#include "redouble/backends/memory/server/host.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/store/table/command_details.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using store::CommandSpec;

constexpr int64_t kMaxPasswordBits = 4096;
constexpr int64_t kDefaultPasswordBits = 256;
constexpr int64_t kDefaultLogEntries = 10;

constexpr std::string_view kNoAclFile =
    "ERR This Redis instance is not configured to use an ACL file. You may want to specify users "
    "via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis "
    "configuration file set) in order to store users in the Redis configuration.";

// The path of the ACL file; empty: the users are in memory only.
std::string AclFileOf(EngineCore& engine) {
  if (engine.administration().host() == nullptr) return "";
  return KeptValue("aclfile", engine.options());
}

// A selector's permissions, under the names of ACL GETUSER.
std::vector<Reply> SelectorFields(const Selector& selector) {
  return {Reply::Bulk("commands"), Reply::Bulk(selector.DescribeCommands()),
          Reply::Bulk("keys"),     Reply::Bulk(selector.DescribeKeys()),
          Reply::Bulk("channels"), Reply::Bulk(selector.DescribeChannels())};
}

// Closes the connections that may no longer use the channels they are subscribed to.
void EndForbiddenSubscriptions(CommandContext& context, const AclUser& user) {
  const auto is_forbidden = [&](const SessionCore& session, SubscriptionKind kind) {
    const auto channel_kind = kind == SubscriptionKind::kPattern ? Selector::ChannelKind::kPattern
                                                                 : Selector::ChannelKind::kName;
    const std::vector<std::string>& names = session.subscribed(kind);
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return !user.MayUse(name, channel_kind); });
  };
  context.engine().administration().DisconnectIf(
      context.session(), [&](const SessionCore& session) {
        return &session.user() == &user && (is_forbidden(session, SubscriptionKind::kChannel) ||
                                            is_forbidden(session, SubscriptionKind::kPattern) ||
                                            is_forbidden(session, SubscriptionKind::kShard));
      });
}

Reply DryRunRefusal(const CommandContext& context, const AclUser& user, const Verdict& verdict,
                    CommandId id, Arguments arguments) {
  const bool is_named = context.engine().Has(Feature::kNamedDenials);
  const std::string prefix =
      (is_named ? "User " + user.name() : "This user") + " has no permissions to ";
  if (verdict.denied == Denied::kCommand) {
    return Reply::Bulk(
        absl::StrCat(prefix, "run the '", base::ToAbsl(store::SpecOf(id).name), "' command"));
  }
  return Reply::Bulk(absl::StrCat(prefix, "access the '", base::ToAbsl(arguments[verdict.index]),
                                  verdict.denied == Denied::kKey ? "' key" : "' channel"));
}

}  // namespace

Reply HandleAclCat(CommandContext& context, Arguments arguments) {
  if (arguments.size() > 1) return WrongSubcommandUse(context);
  std::vector<Reply> names;
  if (arguments.empty()) {
    for (const std::string_view category : store::AllCategories()) {
      names.push_back(Reply::Bulk(category));
    }
    return Reply::Array(std::move(names));
  }
  if (!store::IsCategory(arguments[0])) {
    return Reply::Error(absl::StrCat("ERR Unknown category '", WordInError(arguments[0]), "'"));
  }
  const Compatibility& compatibility = context.engine().compatibility();
  for (const CommandSpec& spec : store::AllCommands()) {
    if (!compatibility.HasCommand(spec.id)) continue;
    const std::vector<std::string_view> categories =
        store::CategoriesOf(compatibility.SpecOf(spec.id));
    if (std::any_of(categories.begin(), categories.end(),
                    [&](std::string_view name) { return IsWord(arguments[0], name); })) {
      names.push_back(Reply::Bulk(spec.name));
    }
  }
  return Reply::Array(std::move(names));
}

Reply HandleAclDelUser(CommandContext& context, Arguments arguments) {
  if (std::find(arguments.begin(), arguments.end(), "default") != arguments.end()) {
    return Reply::Error("ERR The 'default' user cannot be removed");
  }
  Acl& acl = context.engine().acl();
  int64_t removed = 0;
  for (const std::string_view name : arguments) {
    const AclUser* user = acl.Find(name);
    if (user == nullptr) continue;
    Administration& administration = context.engine().administration();
    administration.DisconnectIf(
        context.session(), [&](const SessionCore& session) { return &session.user() == user; });
    // The calling session may be that user; it still receives its reply.
    if (&context.session().user() == user) context.session().LogOut();
    acl.Remove(name);
    ++removed;
  }
  return Reply::Integer(removed);
}

Reply HandleAclDryRun(CommandContext& context, Arguments arguments) {
  const AclUser* user = context.engine().acl().Find(arguments[0]);
  if (user == nullptr) {
    return Reply::Error(absl::StrCat("ERR User '", WordInError(arguments[0]), "' not found"));
  }
  CommandId id = context.engine().CommandNamed(arguments[1]);
  const Arguments rest = arguments.subspan(2);
  switch (context.engine().Resolve(id, rest)) {
    case EngineCore::Resolution::kFound:
      break;
    case EngineCore::Resolution::kWrongArity:
      return WrongArity(store::SpecOf(id).name);
    default:
      return Reply::Error(absl::StrCat("ERR Command '", WordInError(arguments[1]), "' not found"));
  }
  const Verdict verdict = user->Check(id, rest);
  return verdict.denied == Denied::kNothing ? Reply::Ok()
                                            : DryRunRefusal(context, *user, verdict, id, rest);
}

Reply HandleAclGenPass(CommandContext& context, Arguments arguments) {
  if (arguments.size() > 1) return WrongSubcommandUse(context);
  int64_t bits = kDefaultPasswordBits;
  if (!arguments.empty()) {
    const std::optional<int64_t> given = base::ParseInt64(arguments[0]);
    if (!given) return Reply::Error(error_text::kNotAnInteger);
    if (*given <= 0 || *given > kMaxPasswordBits) {
      return Reply::Error(
          "ERR ACL GENPASS argument must be the number of bits for the output password, a positive "
          "number up to 4096");
    }
    bits = *given;
  }
  std::string password;
  for (int64_t digit = 0; digit < (bits + 3) / 4; ++digit) {
    password += "0123456789abcdef"[context.rng().Below(16)];
  }
  return Reply::Bulk(password);
}

Reply HandleAclGetUser(CommandContext& context, Arguments arguments) {
  const AclUser* user = context.engine().acl().Find(arguments[0]);
  if (user == nullptr) return Reply::Nil();
  std::vector<Reply> flags;
  for (const std::string_view flag : user->Flags()) flags.push_back(Reply::Bulk(flag));
  std::vector<Reply> passwords;
  for (const std::string& hash : user->password_hashes()) passwords.push_back(Reply::Bulk(hash));
  std::vector<Reply> selectors;
  for (const Selector& selector : user->selectors().subspan(1)) {
    selectors.push_back(Reply::Map(SelectorFields(selector)));
  }
  std::vector<Reply> fields = {Reply::Bulk("flags"), Reply::Set(std::move(flags)),
                               Reply::Bulk("passwords"), Reply::Array(std::move(passwords))};
  for (Reply& field : SelectorFields(user->selectors()[0])) fields.push_back(std::move(field));
  fields.push_back(Reply::Bulk("selectors"));
  fields.push_back(Reply::Array(std::move(selectors)));
  return Reply::Map(std::move(fields));
}

Reply HandleAclList(CommandContext& context, Arguments) {
  std::vector<Reply> lines;
  for (const auto& [name, user] : context.engine().acl().users()) {
    lines.push_back(Reply::Bulk(user->Describe()));
  }
  return Reply::Array(std::move(lines));
}

Reply HandleAclUsers(CommandContext& context, Arguments) {
  std::vector<Reply> names;
  for (const auto& [name, user] : context.engine().acl().users()) {
    names.push_back(Reply::Bulk(name));
  }
  return Reply::Array(std::move(names));
}

// Replaces all users, or none. As in Redis 7.0, the connections of every user but the default one
// are closed, also if the user is the same as before.
Reply HandleAclLoad(CommandContext& context, Arguments) {
  EngineCore& engine = context.engine();
  const std::string path = AclFileOf(engine);
  if (path.empty()) {
    return Reply::Error(ServerText(context.engine().compatibility(), kNoAclFile));
  }
  const absl::StatusOr<std::string> text = engine.administration().host()->ReadTextFile(path);
  if (!text.ok()) {
    return Reply::Error(absl::StrCat("ERR Error loading ACLs, opening file '", path,
                                     "': ", text.status().message()));
  }
  AclFileUsers file =
      ReadAclFile(*text, path, NewChannelsOf(engine.options()), engine.compatibility().version());
  if (!file.errors.empty()) return Reply::Error("ERR " + WordInError(file.errors));
  const auto is_other = [&](const SessionCore& session) {
    return &session.user() != &engine.acl().default_user() &&
           &session.user() != &engine.acl().program();
  };
  engine.administration().DisconnectIf(context.session(), is_other);
  // The calling session still receives its reply.
  if (is_other(context.session())) context.session().LogOut();
  engine.acl().Replace(std::move(file.users));
  return Reply::Ok();
}

Reply HandleAclSave(CommandContext& context, Arguments) {
  EngineCore& engine = context.engine();
  const std::string path = AclFileOf(engine);
  if (path.empty()) {
    return Reply::Error(ServerText(context.engine().compatibility(), kNoAclFile));
  }
  Host& host = *engine.administration().host();
  if (host.ReplaceTextFile(path, WriteAclFile(engine.acl())).ok()) return Reply::Ok();
  return Reply::Error(
      "ERR There was an error trying to save the ACLs. Please check the server logs for more "
      "information");
}

Reply HandleAclLog(CommandContext& context, Arguments arguments) {
  if (arguments.size() > 1) return WrongSubcommandUse(context);
  DenialLog& log = context.engine().acl().log();
  int64_t count = kDefaultLogEntries;
  if (!arguments.empty()) {
    if (IsWord(arguments[0], "RESET")) {
      log.Clear();
      return Reply::Ok();
    }
    const std::optional<int64_t> given = base::ParseInt64(arguments[0]);
    if (!given) return Reply::Error(error_text::kNotAnInteger);
    count = std::max<int64_t>(*given, 0);
  }
  std::vector<Reply> entries;
  for (const DenialEntry& entry : log.entries()) {
    if (static_cast<int64_t>(entries.size()) == count) break;
    const double age_s = static_cast<double>(context.now_ms() - entry.last_ms) / 1000;
    std::vector<Reply> fields = {
        Reply::Bulk("count"),       Reply::Integer(entry.count),
        Reply::Bulk("reason"),      Reply::Bulk(entry.reason),
        Reply::Bulk("context"),     Reply::Bulk(entry.context),
        Reply::Bulk("object"),      Reply::Bulk(entry.object),
        Reply::Bulk("username"),    Reply::Bulk(entry.user),
        Reply::Bulk("age-seconds"), Reply::Double(base::FormatDouble(age_s)),
        Reply::Bulk("client-info"), Reply::Bulk(entry.client)};
    if (context.engine().Has(Feature::kDenialTimes)) {
      for (const auto& [name, value] :
           {std::pair("entry-id", entry.id), std::pair("timestamp-created", entry.created_ms),
            std::pair("timestamp-last-updated", entry.last_ms)}) {
        fields.push_back(Reply::Bulk(name));
        fields.push_back(Reply::Integer(value));
      }
    }
    entries.push_back(Reply::Map(std::move(fields)));
  }
  return Reply::Array(std::move(entries));
}

Reply HandleAclSetUser(CommandContext& context, Arguments arguments) {
  const std::string_view name = arguments[0];
  if (HasBlanks(name)) {
    return Reply::Error("ERR Usernames can't contain spaces or null characters");
  }
  Acl& acl = context.engine().acl();
  const AclUser::NewChannels channels = NewChannelsOf(context.engine().options());
  if (std::optional<std::string> error = acl.SetUser(name, arguments.subspan(1), channels)) {
    return Reply::Error(*std::move(error));
  }
  EndForbiddenSubscriptions(context, *acl.Find(name));
  return Reply::Ok();
}

Reply HandleAclWhoAmI(CommandContext& context, Arguments) {
  return Reply::Bulk(context.session().user().name());
}

Reply HandleAclHelp(CommandContext& context, Arguments) {
  static constexpr HelpLine kLines[] = {
      "CAT [<category>]",
      "    List all commands that belong to <category>, or all command categories",
      "    when no category is specified.",
      "DELUSER <username> [<username> ...]",
      "    Delete a list of users.",
      "DRYRUN <username> <command> [<arg> ...]",
      "    Returns whether the user can execute the given command without executing the command.",
      "GETUSER <username>",
      "    Get the user's details.",
      "GENPASS [<bits>]",
      "    Generate a secure 256-bit user password. The optional `bits` argument can",
      "    be used to specify a different size.",
      "LIST",
      "    Show users details in config file format.",
      "LOAD",
      "    Reload users from the ACL file.",
      "LOG [<count> | RESET]",
      "    Show the ACL log entries.",
      "SAVE",
      "    Save the current config to the ACL file.",
      "SETUSER <username> <attribute> [<attribute> ...]",
      "    Create or modify a user with the specified attributes.",
      "USERS",
      "    List all the registered usernames.",
      "WHOAMI",
      "    Return the current connection username.",
  };
  return HelpReply(context, kLines);
}

}  // namespace redouble::inline v0_1::memory
