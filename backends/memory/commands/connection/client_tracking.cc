// CLIENT TRACKING, CACHING, GETREDIR and TRACKINGINFO.
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

using Reads = TrackingMode::Reads;

struct TrackingOptions {
  TrackingMode mode = {};
  bool opt_in = false;
  bool opt_out = false;
  // In the given order, with duplicates.
  std::vector<std::string_view> prefixes = {};
};

// Returns an error reply, or nil if `options` is filled.
Reply ReadOptions(CommandContext& context, Arguments arguments, TrackingOptions& options) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool has_value = i + 1 < arguments.size();
    if (IsWord(arguments[i], "REDIRECT") && has_value) {
      if (options.mode.redirect) {
        return Reply::Error("ERR A client can only redirect to a single other client");
      }
      options.mode.redirect = base::ParseInt64(arguments[++i]);
      if (!options.mode.redirect) return Reply::Error(error_text::kNotAnInteger);
      if (!context.engine().administration().sessions().contains(*options.mode.redirect)) {
        return Reply::Error("ERR The client ID you want redirect to does not exist");
      }
    } else if (IsWord(arguments[i], "PREFIX") && has_value) {
      options.prefixes.push_back(arguments[++i]);
    } else if (IsWord(arguments[i], "BCAST")) {
      options.mode.broadcasts = true;
    } else if (IsWord(arguments[i], "OPTIN")) {
      options.opt_in = true;
    } else if (IsWord(arguments[i], "OPTOUT")) {
      options.opt_out = true;
    } else if (IsWord(arguments[i], "NOLOOP")) {
      options.mode.no_loop = true;
    } else {
      return SyntaxError();
    }
  }
  return Reply::Nil();
}

bool Overlap(std::string_view a, std::string_view b) {
  return a.starts_with(b) || b.starts_with(a);
}

Reply OverlapError(std::string_view prefix, std::string_view other, std::string_view which) {
  return Reply::Error(absl::StrCat("ERR Prefix '", base::ToAbsl(prefix), "' overlaps with ",
                                   base::ToAbsl(which), " prefix '", base::ToAbsl(other),
                                   "'. Prefixes for a single client must not overlap."));
}

// Overlapping prefixes would invalidate a key twice.
std::optional<Reply> RefuseOverlaps(const std::vector<std::string_view>& prefixes,
                                    const TrackingMode* known) {
  for (size_t i = 0; i < prefixes.size(); ++i) {
    if (known != nullptr) {
      for (const std::string& other : known->prefixes) {
        if (Overlap(prefixes[i], other)) return OverlapError(prefixes[i], other, "an existing");
      }
    }
    for (size_t j = i + 1; j < prefixes.size(); ++j) {
      if (Overlap(prefixes[i], prefixes[j])) {
        return OverlapError(prefixes[i], prefixes[j], "another provided");
      }
    }
  }
  return std::nullopt;
}

// The error if the client may not change to this mode; nullopt if it may.
std::optional<Reply> RefuseMode(const TrackingOptions& options, const TrackingMode* known) {
  constexpr std::string_view kOtherBroadcast =
      "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then "
      "re-enabling it with a different mode.";
  constexpr std::string_view kOtherReads =
      "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then "
      "re-enabling it with a different mode.";
  const bool broadcasts = options.mode.broadcasts;
  if (!broadcasts && !options.prefixes.empty()) {
    return Reply::Error("ERR PREFIX option requires BCAST mode to be enabled");
  }
  if (known != nullptr && known->broadcasts != broadcasts) return Reply::Error(kOtherBroadcast);
  if (broadcasts && (options.opt_in || options.opt_out)) {
    return Reply::Error("ERR OPTIN and OPTOUT are not compatible with BCAST");
  }
  if (options.opt_in && options.opt_out) {
    return Reply::Error("ERR You can't specify both OPTIN mode and OPTOUT mode");
  }
  if (known != nullptr && ((options.opt_in && known->reads == Reads::kOptOut) ||
                           (options.opt_out && known->reads == Reads::kOptIn))) {
    return Reply::Error(kOtherReads);
  }
  return broadcasts ? RefuseOverlaps(options.prefixes, known) : std::nullopt;
}

}  // namespace

Reply HandleClientTracking(CommandContext& context, Arguments arguments) {
  TrackingOptions options;
  if (Reply error = ReadOptions(context, arguments.subspan(1), options); error.is_error()) {
    return error;
  }
  Tracking& tracking = context.engine().tracking();
  const int64_t id = context.session().id();
  if (IsWord(arguments[0], "OFF")) {
    tracking.Disable(id);
    return Reply::Ok();
  }
  if (!IsWord(arguments[0], "ON")) return SyntaxError();
  if (std::optional<Reply> error = RefuseMode(options, tracking.ModeOf(id))) {
    return *std::move(error);
  }
  options.mode.reads = options.opt_in    ? Reads::kOptIn
                       : options.opt_out ? Reads::kOptOut
                                         : Reads::kAll;
  if (options.mode.broadcasts) {
    options.mode.prefixes.insert(options.prefixes.begin(), options.prefixes.end());
    if (options.prefixes.empty()) options.mode.prefixes.insert("");
  }
  tracking.Enable(id, options.mode);
  return Reply::Ok();
}

Reply HandleClientCaching(CommandContext& context, Arguments arguments) {
  TrackingMode* mode = context.engine().tracking().ModeOf(context.session().id());
  if (mode == nullptr) {
    return Reply::Error(
        "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or "
        "OPTOUT mode enabled");
  }
  const bool yes = IsWord(arguments[0], "YES");
  if (!yes && !IsWord(arguments[0], "NO")) return SyntaxError();
  if (yes && mode->reads != Reads::kOptIn) {
    return Reply::Error(
        "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.");
  }
  if (!yes && mode->reads != Reads::kOptOut) {
    return Reply::Error(
        "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
  }
  mode->caching = true;
  return Reply::Ok();
}

Reply HandleClientGetRedir(CommandContext& context, Arguments) {
  const TrackingMode* mode = context.engine().tracking().ModeOf(context.session().id());
  return Reply::Integer(mode == nullptr ? -1 : mode->redirect.value_or(0));
}

Reply HandleClientTrackingInfo(CommandContext& context, Arguments arguments) {
  const TrackingMode* mode = context.engine().tracking().ModeOf(context.session().id());
  std::vector<Reply> flags = {Reply::Bulk(mode == nullptr ? "off" : "on")};
  std::vector<Reply> prefixes;
  if (mode != nullptr) {
    if (mode->broadcasts) flags.push_back(Reply::Bulk("bcast"));
    if (mode->reads == Reads::kOptIn) {
      flags.push_back(Reply::Bulk("optin"));
      if (mode->caching) flags.push_back(Reply::Bulk("caching-yes"));
    }
    if (mode->reads == Reads::kOptOut) {
      flags.push_back(Reply::Bulk("optout"));
      if (mode->caching) flags.push_back(Reply::Bulk("caching-no"));
    }
    if (mode->no_loop) flags.push_back(Reply::Bulk("noloop"));
    if (mode->redirect_is_broken) flags.push_back(Reply::Bulk("broken_redirect"));
    for (const std::string& prefix : mode->prefixes) prefixes.push_back(Reply::Bulk(prefix));
  }
  return Reply::Map({Reply::Bulk("flags"), Reply::Set(std::move(flags)), Reply::Bulk("redirect"),
                     HandleClientGetRedir(context, arguments), Reply::Bulk("prefixes"),
                     Reply::Array(std::move(prefixes))});
}

}  // namespace redouble::inline v0_1::memory
