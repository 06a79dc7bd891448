#include "redouble/backends/redis/spawn/held_clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/spawn/held_clock_library.h"
#include "redouble/backends/redis/spawn/private_folder.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::redis {
namespace {

absl::StatusOr<int64_t> MicrosecondsOf(absl::Time time) {
  const int64_t now_us = absl::ToUnixMicros(time);
  // A time out of range saturates; the conversion back reveals that.
  const bool exact = time >= absl::FromUnixMicros(now_us) &&
                     time < absl::FromUnixMicros(now_us) + absl::Microseconds(1);
  if (now_us < 0 || !exact) {
    return absl::InvalidArgumentError(
        absl::StrCat("a held clock cannot show ", absl::FormatTime(time, absl::UTCTimeZone())));
  }
  return now_us;
}

absl::StatusOr<HeldClockPage*> MapPage(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  absl::Cleanup closer = [file] { close(file); };
  void* memory = mmap(nullptr, sizeof(HeldClockPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return absl::ErrnoToStatus(errno, absl::StrCat("cannot map ", path));
  return static_cast<HeldClockPage*>(memory);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HeldClock>> HeldClock::Create(const std::string& folder,
                                                             absl::Time now) {
#ifndef __linux__
  return absl::UnimplementedError("a server's clock can be held on Linux only");
#endif
  REDOUBLE_ASSIGN_OR_RETURN(const int64_t now_us, MicrosecondsOf(now));
  const std::string library_path = folder + "/held_clock.so";
  REDOUBLE_RETURN_IF_ERROR(WriteFile(library_path, HeldClockLibrary()));
  const std::string page_path = folder + "/held_clock.page";
  REDOUBLE_RETURN_IF_ERROR(WriteFile(page_path, std::string(sizeof(HeldClockPage), '\0')));
  REDOUBLE_ASSIGN_OR_RETURN(HeldClockPage* const page, MapPage(page_path));
  __atomic_store_n(&page->now_us, now_us, __ATOMIC_SEQ_CST);
  return std::unique_ptr<HeldClock>(new HeldClock(page, page_path, library_path));
}

HeldClock::HeldClock(HeldClockPage* page, std::string page_path, std::string library_path)
    : page_(page), page_path_(std::move(page_path)), library_path_(std::move(library_path)) {}

HeldClock::~HeldClock() { munmap(page_, sizeof(HeldClockPage)); }

absl::Status HeldClock::SetTime(absl::Time now) {
  REDOUBLE_ASSIGN_OR_RETURN(const int64_t now_us, MicrosecondsOf(now));
  __atomic_store_n(&page_->now_us, now_us, __ATOMIC_SEQ_CST);
  return absl::OkStatus();
}

absl::Status HeldClock::AdvanceTime(absl::Duration step) { return SetTime(Now() + step); }

absl::Time HeldClock::Now() const {
  return absl::FromUnixMicros(__atomic_load_n(&page_->now_us, __ATOMIC_SEQ_CST));
}

bool HeldClock::IsFollowedBy(pid_t pid) const {
  const absl::StatusOr<std::string> maps = ReadFile(absl::StrCat("/proc/", pid, "/maps"));
  if (!maps.ok()) return false;
  // The kernel reports the file without symbolic links, so only the end of the path is compared.
  const std::filesystem::path path = page_path_;
  const std::filesystem::path end = path.parent_path().filename() / path.filename();
  return maps->find("/" + end.string() + "\n") != std::string::npos;
}

int64_t HeldClock::idle_turns() const {
  return __atomic_load_n(&page_->idle_turns, __ATOMIC_SEQ_CST);
}

std::vector<std::pair<std::string, std::string>> HeldClock::Environment() const {
  const char* inherited = getenv("LD_PRELOAD");
  const std::string others = inherited == nullptr ? "" : inherited;
  return {{"LD_PRELOAD", others.empty() ? library_path_ : absl::StrCat(library_path_, ":", others)},
          {REDOUBLE_HELD_CLOCK_PAGE_VARIABLE, page_path_}};
}

}  // namespace redouble::inline v0_1::redis
