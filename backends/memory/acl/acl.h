// Acl: the users of an engine, and the log of what was denied to them.
//
//   Acl acl;
//   acl.SetUser("alice", {"on", ">secret", "~cache:*", "+@read"});  // no value: it was taken
//   const AclUser* user = acl.Authenticate("alice", "secret");      // null when it was refused
//
// There is always the user "default", whom every connection begins as. Users keep their address
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

#include "backends/memory/acl/acl_user.h"

namespace redouble::memory {

// One entry of ACL LOG: the same denial within a minute is counted, not repeated.
struct DenialEntry {
  std::string_view reason;   // "command", "key", "channel", "auth"
  std::string_view context;  // "toplevel", "multi", "lua"
  std::string object;        // The command, key or channel.
  std::string user;
  std::string client;  // As CLIENT INFO told of it, the last time.
  int64_t count = 1;
  int64_t last_ms = 0;
};

class DenialLog {
 public:
  // Adds `entry`, or counts it with an equal one that is less than a minute old; it becomes the
  // first. Keeps the newest `max_entries`.
  void Add(DenialEntry entry, size_t max_entries);
  // From the newest.
  const std::deque<DenialEntry>& entries() const { return entries_; }
  void Clear() { entries_.clear(); }

 private:
  std::deque<DenialEntry> entries_;
};

class Acl {
 public:
  using Users = std::map<std::string, std::unique_ptr<AclUser>, std::less<>>;

  Acl();

  // By name.
  const Users& users() const { return users_; }
  const AclUser& default_user() const { return *default_user_; }
  // Whom the program is that holds the engine: it may do everything, and nobody can change that.
  const AclUser& program() const { return program_; }
  // Null when there is no such user.
  const AclUser* Find(std::string_view name) const;

  // Makes or changes a user by `rules`, all of them or none; the words of a selector may be several
  // rules: "(+get", "~a:*)". The error as ACL SETUSER replies it.
  std::optional<std::string> SetUser(std::string_view name, std::span<const std::string_view> rules,
                                     AclUser::NewChannels channels = AclUser::NewChannels::kNone);
  // The user must exist and not be the default one.
  void Remove(std::string_view name);
  // The password of the default user: requirepass. Empty: none is needed.
  void SetDefaultPassword(std::string_view password) { default_user_->SetOnlyPassword(password); }

  // The user of that name, when the password is right; null otherwise.
  const AclUser* Authenticate(std::string_view name, std::string_view password) const;

  DenialLog& log() { return log_; }

 private:
  Users users_;
  AclUser* default_user_;
  const AclUser program_ = AclUser::Default();
  DenialLog log_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ACL_ACL_H_
