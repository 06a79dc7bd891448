// AclUser: an ACL user: its passwords and permissions.
//
//   AclUser user("alice");
//   user.Apply("on");
//   user.Apply(">secret");
//   user.Apply("~cache:*");
//   user.Apply("+@read");
//   user.Accepts("secret");                                  // true
//   user.Check(CommandId::kGet, arguments).denied;           // kNothing, or the denied part
//
// Passwords are kept as SHA-256 hashes only.
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

#include "redouble/backends/memory/acl/selector.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::memory {

// The result of a check, in the order in which Redis prefers to report it.
enum class Denied : uint8_t { kNothing, kCommand, kKey, kChannel };

struct Verdict {
  Denied denied = Denied::kNothing;
  // The index of the denied key or channel in the arguments.
  size_t index = 0;
};

class AclUser {
 public:
  // The channels that a new or reset user, or a new selector, may use: the parameter
  // acl-pubsub-default.
  enum class NewChannels : uint8_t { kNone, kAll };

  // A disabled user without permissions.
  explicit AclUser(std::string name, NewChannels channels = NewChannels::kNone,
                   store::Version version = store::Version::kRedis70);
  // The default user: enabled, without a password, with all permissions.
  static AclUser Default(store::Version version = store::Version::kRedis70);

  const std::string& name() const { return name_; }
  // For the rules that follow.
  void set_new_channels(NewChannels channels) { new_channels_ = channels; }
  bool enabled() const { return enabled_; }
  bool needs_password() const { return !no_password_; }
  // True if a new connection cannot be this user without AUTH.
  bool needs_login() const { return !no_password_ || !enabled_; }
  // True if everything is allowed, so that no check is needed.
  bool unrestricted() const { return unrestricted_; }

  // Applies one rule: "on", "off", "nopass", ">password", "#hash", "reset", "(+get ~a:*)", or a
  // rule of the root selector. Returns the error and changes nothing if the rule is invalid.
  std::optional<RuleError> Apply(std::string_view rule);

  // True if the user is enabled and `password` is one of its passwords, or no password is needed.
  bool Accepts(std::string_view password) const;
  // Replaces all passwords. An empty password allows connections without a password.
  void SetOnlyPassword(std::string_view password);

  // Checks whether a selector allows the command with its keys and channels. `arguments` are the
  // words after the command's name, the subcommand included.
  Verdict Check(store::CommandId id, std::span<const std::string_view> arguments) const;
  // True if the user may run the command and read any key: SORT's BY and GET read other keys.
  bool MayReadAllKeys(store::CommandId id, std::span<const std::string_view> arguments) const;
  // True if the user may use the simulator's commands (SIM).
  bool MaySimulate() const;
  bool MayUse(std::string_view channel, Selector::ChannelKind kind) const;

  // "on", "nopass", "sanitize-payload".
  std::vector<std::string_view> Flags() const;
  const std::vector<std::string>& password_hashes() const { return password_hashes_; }
  // The first one is the root selector.
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
  store::Version version_;
  NewChannels new_channels_;
  bool enabled_ = false;
  bool no_password_ = false;
  bool unrestricted_ = false;
  Payload payload_ = Payload::kUnsaid;
  std::vector<std::string> password_hashes_;
  std::vector<Selector> selectors_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ACL_ACL_USER_H_
