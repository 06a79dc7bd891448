#include "redouble/core/threescale/report/guarded_slice.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/script.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/scripts/script_texts.h"

namespace redouble::inline v0_1::threescale {
namespace {

// KEYS: the mark of the job if the number is not 0, the states of the applications, and the key of
// each command. ARGV: the number of the slice or 0, the TTL of the mark in seconds, the number of
// applications, and for each command its name and its second argument or "". Replies 1 if it
// counted, 0 if that was done before, and -i if the application i, from 1, does not exist.
const store::Script& CountScript() {
  static const store::Script& script = *new store::Script(std::string(kCountSliceText));
  return script;
}

}  // namespace

base::Task<absl::Status> CountGuardedSlice(Process process, const GuardedSlice& slice) {
  const bool is_marked = !slice.job.id.empty();
  std::vector<std::string> guards;
  if (is_marked) guards.push_back(process.keys.CountedJob(slice.job.service_id, slice.job.id));
  for (const ApplicationRef& application : slice.applications) {
    guards.push_back(process.keys.Application(application, ApplicationAttribute::kState));
  }
  const std::string number = absl::StrCat(is_marked ? slice.number : 0);
  const std::string ttl = absl::StrCat(absl::ToInt64Seconds(CountedJobTtl()));
  const std::string applications = absl::StrCat(slice.applications.size());
  std::vector<std::string_view> keys(guards.begin(), guards.end());
  std::vector<std::string_view> arguments = {number, ttl, applications};
  for (const store::Command& command : slice.commands.commands()) {
    const auto words = command.arguments();
    keys.push_back(words.front());
    arguments.push_back(command.name());
    arguments.push_back(words.size() > 1 ? words[1] : std::string_view());
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t reply, store::DecodeInteger(co_await CountScript().Run(
                                                        process.store, keys, arguments)));
  if (reply >= 0) co_return absl::OkStatus();
  co_return MakeError(ErrorCode::kApplicationNotFound,
                      slice.applications[static_cast<size_t>(-reply - 1)].id);
}

}  // namespace redouble::inline v0_1::threescale
