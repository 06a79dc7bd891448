// FullSync: sends all keys, as they are at its beginning, to one or several replicas.
//
// kFile: the keys are written to a temporary file, whose size is then announced, and which each
// replica gets at its own pace. Replicas can be added until it is whole.
// kStream: each part is sent as soon as it is written, between an announced mark and the same mark
// again. The next part waits for the slowest replica.
//
// The keys are written in parts in later turns of the event loop, as in files of keys
// (rdb_key_file.h).
//
//   const auto sync = std::make_shared<FullSync>(engine, options, sockets, listener);
//   REDOUBLE_RETURN_IF_ERROR(sync->Open());
//   sync->Add(session_id);
//   sync->Start();
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 replication.c, sendBulkToSlave and rdbPipeReadHandler.
#ifndef REDOUBLE_SIM_SERVER_REPLICATION_FULL_SYNC_H_
#define REDOUBLE_SIM_SERVER_REPLICATION_FULL_SYNC_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/server/save_progress.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"
#include "redouble/sim/server/process/temporary_file.h"
#include "redouble/sim/server/replication/replica_sockets.h"

namespace redouble::inline v0_1::sim {

class FullSync : public std::enable_shared_from_this<FullSync> {
 public:
  enum class Way : uint8_t { kFile, kStream };

  class Listener {
   public:
    // All keys have been written.
    virtual void OnWritten(FullSync& sync) = 0;
    // Writing has failed: no replica gets anything more.
    virtual void OnFailed(FullSync& sync, const absl::Status& status) = 0;
    // The replica has read a part.
    virtual void OnRead(int64_t session_id) = 0;
    // The replica has been sent everything.
    virtual void OnSent(int64_t session_id) = 0;

   protected:
    ~Listener() = default;
  };

  struct Options {
    Way way = Way::kFile;
    std::string mark;  // kStream: 40 bytes that the keys do not have.
    memory::RdbSaveOptions rdb;
  };

  // All but the options must outlive the object. It ends when it is destroyed.
  FullSync(memory::Engine& engine, Options options, ReplicaSockets& sockets, Listener& listener);
  FullSync(const FullSync&) = delete;
  FullSync& operator=(const FullSync&) = delete;

  // To be called once, first. Errors: those of the file system.
  absl::Status Open();
  void Start() { WriteLater(); }
  // The replica gets the keys too: with kStream before Start, with kFile while they are written.
  void Add(int64_t session_id);
  void Remove(int64_t session_id);
  // Gives up writing: no replica gets anything more.
  void Stop() {
    keys_.reset();
    session_ids_.clear();
  }

  Way way() const { return options_.way; }
  bool is_writing() const { return keys_ != nullptr; }
  memory::SaveProgress progress() const;
  const std::set<int64_t>& session_ids() const { return session_ids_; }
  // Whether the replica has something to read.
  bool waits_for(int64_t session_id) const { return reading_.contains(session_id); }

 private:
  void WriteLater();
  // Writes the next part of the keys.
  void Write();
  // kStream: sends the bytes to all replicas.
  void Send(const std::string& bytes);
  void NoteRead(int64_t session_id);
  // kFile: sends the next part of the file.
  void SendFile(int64_t session_id, uint64_t offset);
  void Finish();

  memory::Engine& engine_;
  const Options options_;
  ReplicaSockets& sockets_;
  Listener& listener_;
  std::unique_ptr<memory::KeysSave> keys_;  // While they are written.
  std::unique_ptr<TemporaryFile> file_;     // kFile
  std::set<int64_t> session_ids_;
  std::set<int64_t> reading_;  // Those that have not read the last part.
  bool is_held_ = false;       // kStream: the next part is due when they have.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_REPLICATION_FULL_SYNC_H_
