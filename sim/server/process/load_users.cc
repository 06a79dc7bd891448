#include "redouble/sim/server/process/load_users.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/acl/acl_user.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/permission.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/sim/server/process/text_file.h"

namespace redouble::inline v0_1::sim {

// Source: Redis 7.0 acl.c, ACLLoadUsersAtStartup.
absl::Status LoadUsersAtStart(memory::Engine& engine,
                              const std::vector<memory::UserDirective>& directives) {
  const memory::EngineOptions& options = engine.options();
  const std::string path = memory::KeptValue("aclfile", options);
  if (!path.empty() && !directives.empty()) {
    return absl::FailedPreconditionError(
        "Configuring Redis with users defined in redis.conf and at the same setting an ACL file "
        "path is invalid. This setup is very likely to lead to configuration errors and security "
        "holes, please define either an ACL file or declare users directly in your redis.conf, but "
        "not both.");
  }
  const memory::AclUser::NewChannels channels = memory::NewChannelsOf(options);
  memory::Acl& acl = engine.core().acl();
  if (const auto error = memory::LoadUserDirectives(directives, channels, acl)) {
    return absl::InvalidArgumentError(
        absl::StrCat(*error, "\nCritical error while loading ACLs. Exiting."));
  }
  if (path.empty()) return absl::OkStatus();
  constexpr absl::string_view kAborting = "Aborting Redis startup because of ACL errors: ";
  const absl::StatusOr<std::string> text = ReadTextFile(path);
  if (!text.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        kAborting, "Error loading ACLs, opening file '", path, "': ", text.status().message()));
  }
  memory::AclFileUsers file = memory::ReadAclFile(*text, path, channels, acl.version());
  if (!file.errors.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(kAborting, file.errors));
  }
  acl.Replace(std::move(file.users));
  return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::sim
