// Users from files: the `user` directives of redis.conf, and the ACL file of ACL LOAD and ACL SAVE.
//
//   AclFileUsers file = ReadAclFile("user ann on >p ~* +@read\n", "users.acl", channels);
//   if (file.errors.empty()) acl.Replace(std::move(file.users));
//   WriteAclFile(acl);  // "user ann on #148de9... ~* resetchannels -@all +@read\nuser default ..."
//
// Thread-safety: pure functions.
// Source: Redis 7.0 acl.c, ACLAppendUserForLoading, ACLLoadConfiguredUsers and ACLLoadFromFile.
#ifndef REDOUBLE_BACKENDS_MEMORY_ACL_ACL_FILE_H_
#define REDOUBLE_BACKENDS_MEMORY_ACL_ACL_FILE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/acl/acl.h"

namespace redouble::inline v0_1::memory {

// A `user` directive: the user's name and its rules.
using UserDirective = std::vector<std::string>;

// Checks the words of a directive that follows `others`. Returns Redis's error while it reads the
// file: a user that is defined twice, or a wrong rule. Unknown commands are no error yet.
std::optional<std::string> CheckUserDirective(const UserDirective& directive,
                                              std::span<const UserDirective> others);

// Creates the users of the directives; "default" is changed. Returns Redis's error: an unknown
// command, or an invalid name.
std::optional<std::string> LoadUserDirectives(std::span<const UserDirective> directives,
                                              AclUser::NewChannels channels, Acl& acl);

struct AclFileUsers {
  Acl::Users users;
  // The errors of all lines in the words of ACL LOAD; empty if the file is valid.
  std::string errors;
};

// `path` is named in errors.
AclFileUsers ReadAclFile(std::string_view text, std::string_view path,
                         AclUser::NewChannels channels,
                         store::Version version = store::Version::kRedis70);
std::string WriteAclFile(const Acl& acl);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ACL_ACL_FILE_H_
