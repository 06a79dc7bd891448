#include "redouble/core/orchestrator/results/file_artifacts.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/orchestrator/errors.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

// The digits of a reference; nullopt for a text that ContentRef does not return.
std::optional<std::string_view> DigitsOf(std::string_view ref) {
  constexpr std::string_view kPrefix = "cas://sha256:";
  constexpr size_t kDigits = 64;
  if (!ref.starts_with(kPrefix) || ref.size() != kPrefix.size() + kDigits) return std::nullopt;
  const std::string_view digits = ref.substr(kPrefix.size());
  const bool hexadecimal = std::all_of(digits.begin(), digits.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  if (!hexadecimal) return std::nullopt;
  return digits;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileArtifacts>> FileArtifacts::Open(std::string folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return MakeError(ErrorCode::kStorageUnavailable, absl::StrCat(folder, ": cannot be created"));
  return std::unique_ptr<FileArtifacts>(new FileArtifacts(std::move(folder)));
}

base::Task<absl::StatusOr<std::string>> FileArtifacts::Put(std::string_view output_json) {
  std::string ref = ContentRef(output_json);
  const std::filesystem::path path = std::filesystem::path(folder_) / *DigitsOf(ref);
  const std::filesystem::path unfinished = path.string() + ".new";
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  file << output_json;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(unfinished, path, error);
  if (!file || error) {
    co_return MakeError(ErrorCode::kStorageUnavailable,
                        absl::StrCat(path.string(), ": cannot be written"));
  }
  co_return ref;
}

base::Task<absl::StatusOr<std::optional<std::string>>> FileArtifacts::Get(std::string_view ref) {
  const std::optional<std::string_view> digits = DigitsOf(ref);
  if (!digits) co_return std::nullopt;
  std::ifstream file(std::filesystem::path(folder_) / *digits, std::ios::binary);
  if (!file) co_return std::nullopt;
  std::string output{std::istreambuf_iterator<char>(file), {}};
  if (ContentRef(output) != ref) {
    co_return MakeError(ErrorCode::kStorageDamaged,
                        absl::StrCat("the output of ", std::string(ref), " is damaged"));
  }
  co_return std::move(output);
}

}  // namespace redouble::inline v0_1::orchestrator
