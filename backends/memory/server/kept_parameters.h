// Parameters of redis.conf, of 7.0.15 and later versions, whose values an engine only keeps:
// replication, TLS, allocators, processes and others. CONFIG GET and CONFIG SET treat them as Redis
// does. A host acts on some of them (KeptValue, KeptNumber); the others have no effect.
//
//   const KeptParameter* parameter = FindKeptParameter("repl-timeout");
//   std::string value = "60";
//   std::optional<std::string> error = parameter->Check(value);  // nullopt
//   options.kept_parameters["repl-timeout"] = value;
//   KeptValue("repl-timeout", options);                          // "60"
//   KeptNumber("repl-timeout", options);                         // 60
//
// The table in commands/server/config.cc has the other parameters.
//
// Thread-safety: constants and pure functions.
// Source: Redis 7.0 config.c; CONFIG GET * and CONFIG SET of redis-server 7.0.15.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_KEPT_PARAMETERS_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_KEPT_PARAMETERS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/server/config_file.h"
#include "redouble/core/store/table/version.h"

namespace redouble::inline v0_1::memory {

struct KeptParameter {
  enum class Kind : uint8_t {
    kSwitch,           // "yes" or "no"
    kInteger,          // From `low` to `high`.
    kMemory,           // The same, with an optional unit: "64mb".
    kUnsignedMemory,   // The same, up to the maximum of 64 bits.
    kMemoryOrPercent,  // kMemory, or "10%".
    kChoice,           // One of `choices`.
    kFlags,            // Some of `choices`, separated by spaces.
    kText,             // Ends at the first zero byte.
    kBytes,
    kFixed,  // CONFIG SET refuses it; a configuration file sets it.
  };
  std::string_view name;
  std::string_view former_name;  // May be empty.
  Kind kind;
  std::string_view initial;
  int64_t low = 0;
  int64_t high = 0;
  std::string_view choices = {};  // "everysec, always, no"
  // An additional check, made after the check of the kind. It may change the value. Returns the
  // text of an error.
  std::optional<std::string> (*check)(std::string& value) = nullptr;
  bool hidden = false;               // Patterns of CONFIG GET do not match it.
  LineForm form = LineForm::kWords;  // In a configuration file.
  // The versions that have the parameter. A parameter whose default or former name changed has two
  // rows.
  store::VersionSet versions = store::Since("1.0.0");

  // Checks a value for CONFIG SET and changes it to the form that CONFIG GET returns. Returns the
  // text of an error; nullopt if the value is valid.
  std::optional<std::string> Check(std::string& value) const;
  // The value in `options`, or `initial`.
  std::string ValueIn(const EngineOptions& options) const;
};

// The rows of all versions, in the order of their names.
std::span<const KeptParameter> KeptParameters();

// Finds a version's parameter by its name or its former name, in letters of any case. Null for
// others.
const KeptParameter* FindKeptParameter(std::string_view name,
                                       store::Version version = store::Version::kRedis70);

// The value of a parameter that every version has, for the version that the options choose.
std::string KeptValue(std::string_view name, const EngineOptions& options);
// The same for a parameter that is a number.
int64_t KeptNumber(std::string_view name, const EngineOptions& options);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_KEPT_PARAMETERS_H_
