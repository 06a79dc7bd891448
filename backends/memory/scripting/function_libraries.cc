#include "redouble/backends/memory/scripting/function_libraries.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/persistence/dump.h"
#include "redouble/backends/memory/persistence/rdb_codec.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/text/quoted_words.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::Reply;

// The RDB record types that a dump of libraries may contain.
constexpr uint64_t kFunctionRecord = 245;
constexpr uint64_t kPreReleaseFunctionRecord = 246;

constexpr size_t kVersionBytes = 2;
constexpr size_t kChecksumBytes = 8;

std::string LowerCase(std::string_view text) { return absl::AsciiStrToLower(base::ToAbsl(text)); }

bool IsName(std::string_view name) {
  const auto right = [](char c) { return absl::ascii_isalnum(c) || c == '_'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), right);
}

// The contents of a library's first line.
struct Metadata {
  std::string engine;
  std::optional<std::string> name;
  std::string_view code;  // The rest of the text, from the end of the first line.
};

// Reads the first line into `metadata`. Returns the text of an error, or nullopt on success.
std::optional<std::string> ReadMetadata(std::string_view text, Metadata& metadata) {
  if (!text.starts_with("#!")) return "Missing library metadata";
  // Like Redis, reads a C string.
  const size_t end = text.substr(0, text.find('\0')).find('\n');
  if (end == std::string_view::npos) return "Invalid library metadata";
  const std::optional<std::vector<std::string>> words = base::SplitQuotedWords(text.substr(0, end));
  if (!words) return "Invalid library metadata";
  metadata.engine = words->front().substr(2);
  for (size_t i = 1; i < words->size(); ++i) {
    constexpr absl::string_view kPrefix = "name=";
    const std::string& word = (*words)[i];
    if (!absl::StartsWithIgnoreCase(base::ToAbsl(word), kPrefix)) {
      return absl::StrCat("Invalid metadata value given: ", word);
    }
    if (metadata.name) {
      return "Invalid metadata value, name argument was given multiple times";
    }
    metadata.name = word.substr(kPrefix.size());
  }
  if (!metadata.name) return "Library name was not given";
  metadata.code = text.substr(end);
  return std::nullopt;
}

}  // namespace

class FunctionLibraries::LibrarySet {
 public:
  explicit LibrarySet(FunctionInterpreter& interpreter) : interpreter_(interpreter) {}
  LibrarySet(const LibrarySet&) = delete;
  LibrarySet& operator=(const LibrarySet&) = delete;
  ~LibrarySet() {
    for (const auto& [name, library] : libraries) Release(*library);
  }

  void Release(const Library& library) {
    for (const Function& function : library.functions) interpreter_.Release(function.reference);
  }

  void Put(std::unique_ptr<Library> library) {
    // If two names differ only in case, a call finds the first one.
    for (const Function& function : library->functions) {
      functions.emplace(LowerCase(function.name), &function);
    }
    std::string name = library->name;
    libraries.emplace(std::move(name), std::move(library));
  }

  // Removes and returns a library; null if it does not exist.
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
  // Functions by name in lower case.
  absl::btree_map<std::string, const Function*, std::less<>> functions;

 private:
  FunctionInterpreter& interpreter_;
};

FunctionLibraries::FunctionLibraries(const Compatibility& compatibility)
    : compatibility_(compatibility),
      interpreter_(std::make_unique<FunctionInterpreter>(compatibility)),
      loaded_(std::make_unique<LibrarySet>(*interpreter_)) {}

FunctionLibraries::~FunctionLibraries() = default;

std::optional<std::string> FunctionLibraries::LoadInto(LibrarySet& set, std::string_view code,
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
  if (!replace && set.libraries.contains(name)) return "Library '" + name + "' already exists";
  auto library = std::make_unique<Library>();
  library->name = name;
  library->code = std::string(code);
  if (std::optional<std::string> error = interpreter_->Load(metadata.code, library->functions)) {
    return error;
  }
  std::sort(library->functions.begin(), library->functions.end(),
            [](const Function& a, const Function& b) { return a.name < b.name; });
  std::unique_ptr<Library> replaced = set.Take(name);
  std::optional<std::string> error;
  if (library->functions.empty()) error = "No functions registered";
  for (const Function& function : library->functions) {
    if (!error && set.Has(function)) error = "Function " + function.name + " already exists";
  }
  if (error) {
    set.Release(*library);
    if (replaced != nullptr) set.Put(std::move(replaced));
    return error;
  }
  if (replaced != nullptr) set.Release(*replaced);
  set.Put(std::move(library));
  return std::nullopt;
}

Reply FunctionLibraries::Load(std::string_view code, LoadOptions options) {
  std::string name;
  if (std::optional<std::string> error = LoadInto(*loaded_, code, options.replace, name)) {
    return Reply::Error("ERR " + *error);
  }
  return Reply::Bulk(std::move(name));
}

bool FunctionLibraries::Delete(std::string_view name) {
  const std::unique_ptr<Library> library = loaded_->Take(name);
  if (library == nullptr) return false;
  loaded_->Release(*library);
  return true;
}

void FunctionLibraries::Flush() {
  loaded_.reset();
  interpreter_ = std::make_unique<FunctionInterpreter>(compatibility_);
  loaded_ = std::make_unique<LibrarySet>(*interpreter_);
}

const FunctionLibraries::Function* FunctionLibraries::Find(std::string_view name) const {
  const auto found = loaded_->functions.find(LowerCase(name));
  return found == loaded_->functions.end() ? nullptr : found->second;
}

std::vector<const FunctionLibraries::Library*> FunctionLibraries::List() const {
  std::vector<const Library*> list;
  for (const auto& [name, library] : loaded_->libraries) list.push_back(library.get());
  return list;
}

size_t FunctionLibraries::library_count() const { return loaded_->libraries.size(); }

size_t FunctionLibraries::function_count() const {
  size_t count = 0;
  for (const auto& [name, library] : loaded_->libraries) count += library->functions.size();
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
  for (const auto& [name, library] : loaded_->libraries) {
    AppendLittleEndian(kFunctionRecord, 1, out);
    AppendRdbString(library->code, out);
  }
  AppendLittleEndian(static_cast<uint64_t>(compatibility_.spec().rdb_version), kVersionBytes, out);
  AppendLittleEndian(base::Crc64(out), kChecksumBytes, out);
  return out;
}

Reply FunctionLibraries::Restore(std::string_view payload, RestorePolicy policy) {
  if (!DumpIsIntact(payload, ChecksumPolicy::kVerify, compatibility_.spec().rdb_version)) {
    return Reply::Error(kDamagedDump);
  }
  auto restored = std::make_unique<LibrarySet>(*interpreter_);
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
    loaded_ = std::move(restored);
    return Reply::Ok();
  }
  if (std::optional<std::string> error = Merge(*restored, policy == RestorePolicy::kReplace)) {
    return Reply::Error("ERR " + *error);
  }
  return Reply::Ok();
}

// Moves either all libraries from another set, or no library.
std::optional<std::string> FunctionLibraries::Merge(LibrarySet& from, bool replace) {
  std::optional<std::string> error;
  std::vector<std::unique_ptr<Library>> replaced;
  for (const auto& [name, library] : from.libraries) {
    if (!loaded_->libraries.contains(name)) continue;
    if (!replace) {
      error = "Library " + name + " already exists";
      break;
    }
    replaced.push_back(loaded_->Take(name));
  }
  for (const auto& [name, function] : from.functions) {
    if (!error && loaded_->Has(*function)) error = "Function " + function->name + " already exists";
  }
  if (error) {
    for (std::unique_ptr<Library>& library : replaced) loaded_->Put(std::move(library));
    return error;
  }
  for (const std::unique_ptr<Library>& library : replaced) loaded_->Release(*library);
  while (!from.libraries.empty()) loaded_->Put(from.Take(from.libraries.begin()->first));
  return std::nullopt;
}

ScriptResult FunctionLibraries::Run(const Function& function,
                                    std::span<const std::string_view> keys,
                                    std::span<const std::string_view> arguments, ScriptHost& host,
                                    int64_t limit_ms) {
  return interpreter_->Run(function.reference, function.name, keys, arguments, host, limit_ms);
}

}  // namespace redouble::inline v0_1::memory
