// The parameters of CONFIG: their names, values and lines in a configuration file.
//
//   const Found found = Find("maxmemory");
//   TextOf(found, engine);                              // "0"
//   SetValue(found, "64mb", options);                   // nullopt: no error
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 config.c.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_CONFIG_PARAMETERS_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_CONFIG_PARAMETERS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/server/config_file.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/backends/memory/server/parameter_value.h"

namespace redouble::inline v0_1::memory {

// A parameter and its option. Numbers are in the option's unit.
struct Parameter {
  enum class Kind : uint8_t {
    kInteger,
    kMemory,  // An integer with an optional unit: "64mb".
    kBool,    // "yes" or "no"
    kPolicy,  // maxmemory-policy
    kText,    // A value with its own format.
  };
  std::string_view name;
  std::string_view alias;  // The former name; may be empty.
  Kind kind;
  bool immutable;
  int64_t low;
  int64_t high;
  int64_t (*get)(const EngineOptions& options);
  void (*set)(EngineOptions& options, int64_t value);
  // Getter and setter of kText. The setter returns the text of an error; nullopt if it set the
  // option.
  std::string (*get_text)(const EngineOptions& options) = nullptr;
  std::optional<std::string> (*set_text)(EngineOptions& options, std::string_view text) = nullptr;
  // CONFIG SET is refused unless enable-protected-configs allows it.
  bool is_protected = false;
  // How a kText parameter is written to a configuration file: by `lines`, or as `form` says if
  // `lines` is null.
  LineForm form = LineForm::kWords;
  ConfigLines (*lines)(const EngineOptions& options) = nullptr;
  // The versions that have the parameter.
  store::VersionSet versions = store::Since("1.0.0");
};

// The parameters of all versions that have an effect, in the order of their names.
// server/kept_parameters.h has the others. The host keeps `dir`.
std::span<const Parameter> Parameters();

// A parameter of one of the three kinds.
struct Found {
  const Parameter* parameter = nullptr;
  const KeptParameter* kept = nullptr;
  bool is_folder = false;  // dir

  bool any() const { return parameter != nullptr || kept != nullptr || is_folder; }
  bool immutable() const {
    return (parameter != nullptr && parameter->immutable) ||
           (kept != nullptr && kept->kind == KeptParameter::Kind::kFixed);
  }
  bool is_protected() const {
    return is_folder || (parameter != nullptr && parameter->is_protected);
  }
};

inline constexpr std::string_view kFolder = "dir";

// Finds a parameter of a version by its name or its former name, in letters of any case.
Found Find(std::string_view name, store::Version version);

// The value that CONFIG GET returns.
std::string TextOf(const Parameter& parameter, const EngineOptions& options);
std::string TextOf(const Found& found, EngineCore& engine);

// The lines of a parameter in a configuration file.
ConfigLines LinesOf(const Parameter& parameter, const EngineOptions& options);

// Sets a value in `options`. Returns the text of an error.
ValueError SetValue(const Found& found, std::string_view text, EngineOptions& options);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_CONFIG_PARAMETERS_H_
