#include "backends/memory/function_libraries.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/memory/values/dump.h"
#include "backends/memory/values/rdb_codec.h"
#include "core/base/crc.h"
#include "core/base/string_bridge.h"

namespace redouble::memory {
namespace {

using store::Reply;

// The record types of RDB that a dump of libraries may hold.
constexpr uint64_t kFunctionRecord = 245;
constexpr uint64_t kPreReleaseFunctionRecord = 246;

constexpr uint64_t kRdbVersion = 10;
constexpr size_t kVersionBytes = 2;
constexpr size_t kChecksumBytes = 8;

std::string LowerCase(std::string_view text) { return absl::AsciiStrToLower(base::ToAbsl(text)); }

bool IsName(std::string_view name) {
  const auto right = [](char c) { return absl::ascii_isalnum(c) || c == '_'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), right);
}

// What a library's first line says.
struct Metadata {
  std::string engine;
  std::optional<std::string> name;
  std::string_view code;  // What follows, from the line's end on.
};

// The text of an error, or none and `metadata` filled.
std::optional<std::string> ReadMetadata(std::string_view text, Metadata& metadata) {
  if (!text.starts_with("#!")) return "Missing library metadata";
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return "Invalid library metadata";
  const std::vector<absl::string_view> words = absl::StrSplit(
      base::ToAbsl(text.substr(0, end)), absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  metadata.engine = std::string(base::ToStd(words[0].substr(2)));
  for (size_t i = 1; i < words.size(); ++i) {
    constexpr absl::string_view kPrefix = "name=";
    if (!absl::StartsWithIgnoreCase(words[i], kPrefix)) {
      return absl::StrCat("Invalid metadata value given: ", words[i]);
    }
    if (metadata.name) {
      return "Invalid metadata value, name argument was given multiple times";
    }
    metadata.name = std::string(base::ToStd(words[i].substr(kPrefix.size())));
  }
  if (!metadata.name) return "Library name was not given";
  metadata.code = text.substr(end);
  return std::nullopt;
}

}  // namespace

class FunctionLibraries::Shelf {
 public:
  explicit Shelf(FunctionInterpreter& interpreter) : interpreter_(interpreter) {}
  Shelf(const Shelf&) = delete;
  Shelf& operator=(const Shelf&) = delete;
  ~Shelf() {
    for (const auto& [name, library] : libraries) Release(*library);
  }

  void Release(const Library& library) {
    for (const Function& function : library.functions) interpreter_.Release(function.reference);
  }

  void Put(std::unique_ptr<Library> library) {
    // Of two names that differ in their case, a call finds the first.
    for (const Function& function : library->functions) {
      functions.emplace(LowerCase(function.name), &function);
    }
    std::string name = library->name;
    libraries.emplace(std::move(name), std::move(library));
  }

  // Null when there is none of this name.
  std::unique_ptr<Library> Take(std::string_view name) {
    const auto found = libraries.find(name);
    if (found == libraries.end()) return nullptr;
    std::unique_ptr<Library> library = std::move(found->second);
    libraries.erase(found);
    for (const Function& function : library->functions) functions.erase(LowerCase(function.name));
    return library;
  }

  bool Has(const Function& function) const { return functions.contains(LowerCase(function.name)); }

  absl::btree_map<std::string, std::unique_ptr<Library>, std::less<>> libraries;
  // By name in lower case.
  absl::btree_map<std::string, const Function*, std::less<>> functions;

 private:
  FunctionInterpreter& interpreter_;
};

FunctionLibraries::FunctionLibraries()
    : interpreter_(std::make_unique<FunctionInterpreter>()),
      shelf_(std::make_unique<Shelf>(*interpreter_)) {}

FunctionLibraries::~FunctionLibraries() = default;

std::optional<std::string> FunctionLibraries::LoadInto(Shelf& shelf, std::string_view code,
                                                       bool replace, std::string& name) {
  Metadata metadata;
  if (std::optional<std::string> error = ReadMetadata(code, metadata)) return error;
  name = *metadata.name;
  if (!IsName(name)) {
    return "Library names can only contain letters, numbers, or underscores(_) and must be at "
           "least "
           "one character long";
  }
  if (LowerCase(metadata.engine) != "lua") return "Engine '" + metadata.engine + "' not found";
  if (!replace && shelf.libraries.contains(name)) return "Library '" + name + "' already exists";
  auto library = std::make_unique<Library>();
  library->name = name;
  library->code = std::string(code);
  if (std::optional<std::string> error = interpreter_->Load(metadata.code, library->functions)) {
    return error;
  }
  std::sort(library->functions.begin(), library->functions.end(),
            [](const Function& a, const Function& b) { return a.name < b.name; });
  std::unique_ptr<Library> replaced = shelf.Take(name);
  std::optional<std::string> error;
  if (library->functions.empty()) error = "No functions registered";
  for (const Function& function : library->functions) {
    if (!error && shelf.Has(function)) error = "Function " + function.name + " already exists";
  }
  if (error) {
    shelf.Release(*library);
    if (replaced != nullptr) shelf.Put(std::move(replaced));
    return error;
  }
  if (replaced != nullptr) shelf.Release(*replaced);
  shelf.Put(std::move(library));
  return std::nullopt;
}

Reply FunctionLibraries::Load(std::string_view code, LoadOptions options) {
  std::string name;
  if (std::optional<std::string> error = LoadInto(*shelf_, code, options.replace, name)) {
    return Reply::Error("ERR " + *error);
  }
  return Reply::Bulk(std::move(name));
}

bool FunctionLibraries::Delete(std::string_view name) {
  const std::unique_ptr<Library> library = shelf_->Take(name);
  if (library == nullptr) return false;
  shelf_->Release(*library);
  return true;
}

void FunctionLibraries::Flush() {
  shelf_.reset();
  interpreter_ = std::make_unique<FunctionInterpreter>();
  shelf_ = std::make_unique<Shelf>(*interpreter_);
}

const FunctionLibraries::Function* FunctionLibraries::Find(std::string_view name) const {
  const auto found = shelf_->functions.find(LowerCase(name));
  return found == shelf_->functions.end() ? nullptr : found->second;
}

std::vector<const FunctionLibraries::Library*> FunctionLibraries::List() const {
  std::vector<const Library*> list;
  for (const auto& [name, library] : shelf_->libraries) list.push_back(library.get());
  return list;
}

size_t FunctionLibraries::library_count() const { return shelf_->libraries.size(); }

size_t FunctionLibraries::function_count() const {
  size_t count = 0;
  for (const auto& [name, library] : shelf_->libraries) count += library->functions.size();
  return count;
}

size_t FunctionLibraries::text_bytes() const {
  size_t bytes = 0;
  for (const Library* library : List()) {
    bytes += library->name.size() + library->code.size();
    for (const Function& function : library->functions) bytes += function.name.size();
  }
  return bytes;
}

size_t FunctionLibraries::lua_bytes() const { return interpreter_->MemoryBytes(); }

std::string FunctionLibraries::Dump() const {
  std::string out;
  for (const auto& [name, library] : shelf_->libraries) {
    AppendLittleEndian(kFunctionRecord, 1, out);
    AppendRdbString(library->code, out);
  }
  AppendLittleEndian(kRdbVersion, kVersionBytes, out);
  AppendLittleEndian(base::Crc64(out), kChecksumBytes, out);
  return out;
}

Reply FunctionLibraries::Restore(std::string_view payload, RestorePolicy policy) {
  if (!DumpIsIntact(payload)) {
    return Reply::Error("ERR DUMP payload version or checksum are wrong");
  }
  auto restored = std::make_unique<Shelf>(*interpreter_);
  RdbReader reader(payload.substr(0, payload.size() - kVersionBytes - kChecksumBytes));
  while (const std::optional<uint64_t> type = reader.ReadLittleEndian(1)) {
    if (*type == kPreReleaseFunctionRecord) {
      return Reply::Error("ERR Pre-GA function format not supported");
    }
    if (*type != kFunctionRecord) return Reply::Error("ERR given type is not a function");
    const std::optional<std::string> code = reader.ReadString();
    if (!code) return Reply::Error("ERR Failed loading library code");
    std::string name;
    if (std::optional<std::string> error = LoadInto(*restored, *code, false, name)) {
      return Reply::Error("ERR " + *error);
    }
  }
  if (policy == RestorePolicy::kFlush) {
    shelf_ = std::move(restored);
    return Reply::Ok();
  }
  if (std::optional<std::string> error = Join(*restored, policy == RestorePolicy::kReplace)) {
    return Reply::Error("ERR " + *error);
  }
  return Reply::Ok();
}

// Moves all libraries over from another shelf, or none of them.
std::optional<std::string> FunctionLibraries::Join(Shelf& from, bool replace) {
  std::optional<std::string> error;
  std::vector<std::unique_ptr<Library>> replaced;
  for (const auto& [name, library] : from.libraries) {
    if (!shelf_->libraries.contains(name)) continue;
    if (!replace) {
      error = "Library " + name + " already exists";
      break;
    }
    replaced.push_back(shelf_->Take(name));
  }
  for (const auto& [name, function] : from.functions) {
    if (!error && shelf_->Has(*function)) error = "Function " + function->name + " already exists";
  }
  if (error) {
    for (std::unique_ptr<Library>& library : replaced) shelf_->Put(std::move(library));
    return error;
  }
  for (const std::unique_ptr<Library>& library : replaced) shelf_->Release(*library);
  while (!from.libraries.empty()) shelf_->Put(from.Take(from.libraries.begin()->first));
  return std::nullopt;
}

ScriptResult FunctionLibraries::Run(const Function& function,
                                    std::span<const std::string_view> keys,
                                    std::span<const std::string_view> arguments, ScriptHost& host,
                                    int64_t limit_ms) {
  return interpreter_->Run(function.reference, function.name, keys, arguments, host, limit_ms);
}

}  // namespace redouble::memory
