// Acl: the users of an engine, and ACL LOG.
//
//   Acl acl;
//   acl.SetUser("alice", {"on", ">secret", "~cache:*", "+@read"});  // nullopt: no error
//   const AclUser* user = acl.Authenticate("alice", "secret");      // null if refused
//
// The user "default" always exists; every connection begins as this user. Users keep their address
// until they are removed.
//
// Thread-safety: one thread.
// Source: Redis 7.0 ACL.
#ifndef REDOUBLE_BACKENDS_MEMORY_ACL_ACL_H_
#define REDOUBLE_BACKENDS_MEMORY_ACL_ACL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/acl/acl_user.h"

namespace redouble::inline v0_1::memory {

// One entry of ACL LOG. Equal denials within a minute are counted in one entry.
struct DenialEntry {
  std::string_view reason;   // "command", "key", "channel", "auth"
  std::string_view context;  // "toplevel", "multi", "lua"
  std::string object;        // The command, key or channel.
  std::string user;
  std::string client;  // The line of CLIENT INFO at the last denial.
  int64_t count = 1;
  int64_t last_ms = 0;
  // Assigned by DenialLog::Add, from 0.
  int64_t id = 0;
  int64_t created_ms = 0;
};

class DenialLog {
 public:
  // Adds `entry` as the first one, or counts it with an equal one that is less than a minute old.
  // Keeps the newest `max_entries`.
  void Add(DenialEntry entry, size_t max_entries);
  // Newest first.
  const std::deque<DenialEntry>& entries() const { return entries_; }
  void Clear() { entries_.clear(); }

 private:
  std::deque<DenialEntry> entries_;
  int64_t next_id_ = 0;
};

// A rule that a user cannot have.
struct RejectedRule {
  std::string rule;
  RuleError error;
};

class Acl {
 public:
  using Users = std::map<std::string, std::unique_ptr<AclUser>, std::less<>>;

  // The version decides which commands rules may name, and how rules are written (selector.h).
  explicit Acl(store::Version version = store::Version::kRedis70);

  store::Version version() const { return version_; }

  // By name.
  const Users& users() const { return users_; }
  const AclUser& default_user() const { return *default_user_; }
  // The user of connections made by the program itself (Engine::ConnectTrusted). It has all
  // permissions and is not visible to ACL commands.
  const AclUser& program() const { return program_; }
  // Returns null if the user does not exist.
  const AclUser* Find(std::string_view name) const;

  // Creates or changes a user by `rules`. Applies all of them or none; returns the error of ACL
  // SETUSER if one is invalid. The words of a selector may be several rules: "(+get", "~a:*)".
  std::optional<std::string> SetUser(std::string_view name, std::span<const std::string_view> rules,
                                     AclUser::NewChannels channels = AclUser::NewChannels::kNone);
  // The same for rules that are whole: "(+get ~a:*)". Returns the first invalid one.
  std::optional<RejectedRule> ChangeUser(std::string_view name, std::span<const std::string> rules,
                                         AclUser::NewChannels channels);
  // Replaces all users. References to the default user stay valid: it gets the rules of the user
  // "default" in `users`, or Redis's default rules if there is no such user.
  void Replace(Users users);
  // The user must exist and must not be the default user.
  void Remove(std::string_view name);
  // Sets the password of the default user (requirepass). Empty: no password is needed.
  void SetDefaultPassword(std::string_view password) { default_user_->SetOnlyPassword(password); }

  // Returns the user if the password is right; null otherwise.
  const AclUser* Authenticate(std::string_view name, std::string_view password) const;

  DenialLog& log() { return log_; }

 private:
  const store::Version version_;
  Users users_;
  AclUser* default_user_;
  const AclUser program_ = AclUser::Default();
  DenialLog log_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ACL_ACL_H_
