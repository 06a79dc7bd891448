// AclUser: who a connection is, and what it may do.
//
//   AclUser user("alice");
//   user.Apply("on");
//   user.Apply(">secret");
//   user.Apply("~cache:*");
//   user.Apply("+@read");
//   user.Accepts("secret");                                  // true
//   user.Check(CommandId::kGet, arguments).denied;           // kNothing, or what it may not do
//
// Passwords are kept as SHA-256 only.
//
// Thread-safety: a plain value.
// Source: Redis 7.0 ACL SETUSER, ACL GETUSER, ACL LIST.
#ifndef REDOUBLE_BACKENDS_MEMORY_ACL_ACL_USER_H_
#define REDOUBLE_BACKENDS_MEMORY_ACL_ACL_USER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/memory/acl/selector.h"
#include "core/store/command_table.h"

namespace redouble::memory {

// What a check found, in the order in which Redis prefers to tell of it.
enum class Denied : uint8_t { kNothing, kCommand, kKey, kChannel };

struct Verdict {
  Denied denied = Denied::kNothing;
  // Of the key or channel that was denied, in the arguments.
  size_t index = 0;
};

class AclUser {
 public:
  // What a new user may do with channels, by the parameter acl-pubsub-default.
  enum class NewChannels : uint8_t { kNone, kAll };

  // A user that is off and may do nothing.
  explicit AclUser(std::string name, NewChannels channels = NewChannels::kNone);
  // The user that every connection begins as: on, without a password, with all permissions.
  static AclUser Default();

  const std::string& name() const { return name_; }
  bool enabled() const { return enabled_; }
  bool needs_password() const { return !no_password_; }
  // Nobody is this user without saying so.
  bool needs_login() const { return !no_password_ || !enabled_; }
  // Allowed everything, so that nothing needs a check.
  bool unrestricted() const { return unrestricted_; }

  // Takes one rule: "on", "off", "nopass", ">password", "#hash", "reset", "(+get ~a:*)", or one for
  // the root selector. The error when it is none, and then nothing has changed.
  std::optional<RuleError> Apply(std::string_view rule);

  // True when the user is enabled and this is one of the passwords, or none is needed.
  bool Accepts(std::string_view password) const;
  // Replaces all passwords by this one; an empty one means that none is needed.
  void SetOnlyPassword(std::string_view password);

  // Whether some selector allows the command with its keys and channels. `arguments` are what
  // follows the command's name, the subcommand included.
  Verdict Check(store::CommandId id, std::span<const std::string_view> arguments) const;
  // Whether the user may run the command with any key read: SORT's BY and GET look at others.
  bool MayReadAllKeys(store::CommandId id, std::span<const std::string_view> arguments) const;
  bool MayUse(std::string_view channel, Selector::ChannelKind kind) const;

  // "on", "nopass", "sanitize-payload".
  std::vector<std::string_view> Flags() const;
  const std::vector<std::string>& password_hashes() const { return password_hashes_; }
  // The first is the root selector.
  std::span<const Selector> selectors() const { return selectors_; }
  // The line of ACL LIST: "user alice on #... ~cache:* resetchannels -@all +@read".
  std::string Describe() const;

 private:
  enum class Payload : uint8_t { kUnsaid, kSanitize, kSkip };

  std::optional<RuleError> ApplyRule(std::string_view rule);
  std::optional<RuleError> ApplyPassword(char kind, std::string_view text);
  std::optional<RuleError> AddSelector(std::string_view rules);
  void Reset();

  std::string name_;
  NewChannels new_channels_;
  bool enabled_ = false;
  bool no_password_ = false;
  bool unrestricted_ = false;
  Payload payload_ = Payload::kUnsaid;
  std::vector<std::string> password_hashes_;
  std::vector<Selector> selectors_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ACL_ACL_USER_H_
