#include "redouble/sim/server/replication/incoming_keys.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {
namespace {

bool HasKeys(memory::EngineCore& core) {
  for (int index = 0; index < core.database_count(); ++index) {
    if (core.database(index).size() > 0) return true;
  }
  return false;
}

bool IsDiskless(memory::Engine& engine) {
  const std::string mode = memory::KeptValue("repl-diskless-load", engine.options());
  return mode == "swapdb" || (mode == "on-empty-db" && !HasKeys(engine.core()));
}

bool Swaps(const memory::Engine& engine) {
  return memory::KeptValue("repl-diskless-load", engine.options()) == "swapdb";
}

}  // namespace

IncomingKeys::IncomingKeys(memory::Engine& engine, const Log& log, bool has_stream)
    : engine_(engine),
      log_(log),
      swaps_(Swaps(engine)),
      is_diskless_(IsDiskless(engine)),
      is_async_(swaps_ && has_stream) {}

IncomingKeys::~IncomingKeys() { engine_.core().SetLoading(std::nullopt); }

void IncomingKeys::WriteLog(std::string_view text) const {
  log_.Write(LogLevel::kNotice, engine_.clock().Now(),
             absl::StrCat("MASTER <-> REPLICA sync: ", base::ToAbsl(text)));
}

void IncomingKeys::Warn(std::string_view text) const {
  log_.Write(LogLevel::kWarning, engine_.clock().Now(), text);
}

void IncomingKeys::LogCut() const {
  if (!is_diskless_) return Warn("I/O error trying to sync with MASTER: connection lost");
  Warn(absl::StrCat("Internal error in RDB reading offset ", transfer_->read_bytes(),
                    ": connection lost"));
  Warn("Failed trying to load the MASTER synchronization DB from socket: connection lost");
  if (swaps_) WriteLog("Discarding temporary DB in background");
}

absl::StatusOr<std::unique_ptr<IncomingKeys>> IncomingKeys::Announced(memory::Engine& engine,
                                                                      const Log& log,
                                                                      std::string_view line,
                                                                      bool has_stream) {
  std::unique_ptr<IncomingKeys> keys(new IncomingKeys(engine, log, has_stream));
  absl::StatusOr<std::unique_ptr<TemporaryFile>> file = TemporaryFile::Create();
  if (!file.ok()) {
    return absl::Status(
        file.status().code(),
        absl::StrCat("Opening the temp file needed for MASTER <-> REPLICA synchronization: ",
                     file.status().message()));
  }
  keys->file_ = *std::move(file);
  REDOUBLE_ASSIGN_OR_RETURN(keys->transfer_, KeyTransfer::Announced(line, *keys->file_));
  keys->LogAnnouncement();
  if (keys->is_diskless_) keys->ShowLoading();
  return keys;
}

void IncomingKeys::LogAnnouncement() const {
  const std::string_view to = is_diskless_ ? "to parser" : "to disk";
  WriteLog(transfer_->has_end_mark()
               ? absl::StrCat("receiving streamed RDB from master with EOF ", base::ToAbsl(to))
               : absl::StrCat("receiving ", transfer_->announced_bytes(), " bytes from master ",
                              base::ToAbsl(to)));
}

void IncomingKeys::ShowLoading() {
  if (!swaps_ || !is_diskless_) WriteLog("Flushing old data");
  WriteLog("Loading DB in memory");
  engine_.core().SetLoading(memory::LoadingFigures{.is_async = is_async_,
                                                   .since_s = engine_.clock().NowMillis() / 1000,
                                                   .total_bytes = transfer_->announced_bytes()});
}

absl::StatusOr<std::string_view> IncomingKeys::Add(std::string_view bytes) {
  absl::StatusOr<std::string_view> rest = transfer_->Add(bytes);
  if (is_diskless_) UpdateFigures();
  return rest;
}

void IncomingKeys::UpdateFigures() {
  memory::LoadingFigures figures = *engine_.core().loading();
  figures.loaded_bytes = is_diskless_ ? transfer_->read_bytes() : load_->progress().bytes;
  if (load_ != nullptr) {
    const std::string memory = report().Field("used-mem").value_or("0");
    figures.used_memory_bytes = static_cast<uint64_t>(base::ParseInt64(memory).value_or(0));
  }
  engine_.core().SetLoading(figures);
}

void IncomingKeys::BeginLoading() {
  if (!is_diskless_) ShowLoading();
  load_ = memory::BeginLoadingRdb(
      engine_, *file_, {.time_policy = memory::RdbLoadOptions::TimePolicy::kKeepExpired});
}

absl::StatusOr<bool> IncomingKeys::Continue() {
  const absl::StatusOr<bool> continues = load_->Continue(memory::LoadPartBytes(engine_.options()));
  UpdateFigures();
  if (continues.ok() && !*continues && swaps_) {
    WriteLog("Swapping active DB with loaded DB");
    WriteLog("Discarding old DB in background");
  }
  return continues;
}

}  // namespace redouble::inline v0_1::sim
