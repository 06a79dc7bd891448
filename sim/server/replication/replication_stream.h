// ReplicationStream: the bytes that a master sends to its replicas: their names, their number, and
// the last of them, for replicas that come back.
//
// A stream has an id. A replica has the stream of its master, under the same id and with the same
// offsets, so that others can follow it. When it takes over, its stream gets a new id; the former
// one still names the bytes before.
//
//   ReplicationStream stream([] { return MakeRunId(); });
//   stream.Begin(1 << 20);                     // With the first replica.
//   stream.Append(bytes);
//   stream.From(id, offset);                   // What a replica lacks, if it is still there.
//
// Thread-safety: one thread.
// Source: Redis 7.0 replication.c, masterTryPartialResynchronization and shiftReplicationId.
#ifndef REDOUBLE_SIM_SERVER_REPLICATION_REPLICATION_STREAM_H_
#define REDOUBLE_SIM_SERVER_REPLICATION_REPLICATION_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::sim {

class ReplicationStream {
 public:
  // `new_id` returns 40 hexadecimal digits, others each time.
  explicit ReplicationStream(std::function<std::string()> new_id);

  const std::string& id() const { return id_; }
  // The bytes so far. The first byte has the offset 1.
  int64_t offset() const { return offset_; }
  // The id before TakeOver or Rename, and the first offset that it does not name; 40 zeros and -1.
  const std::string& former_id() const { return former_id_; }
  int64_t former_end() const { return former_end_; }
  // Whether the last bytes are kept: since Begin.
  bool is_kept() const { return is_kept_; }
  int64_t kept_bytes() const;

  // From here on bytes are kept, about the last `limit_bytes`. No effect if they are kept already.
  void Begin(size_t limit_bytes);
  // Forgets bytes at once if there are many more.
  void SetLimit(size_t limit_bytes);
  // Keeps the bytes from this offset on, however many they are; nullopt: the last ones suffice.
  void Hold(std::optional<int64_t> offset);
  // Returns a name that no stream has.
  std::string NewName() const { return new_id_(); }
  // Forgets the kept bytes, and keeps none.
  void End();
  // Begins a stream that no replica knows.
  void StartAnew();
  // A replica has all keys of a master: its stream is the master's from here on.
  void Adopt(std::string_view id, int64_t offset);
  // A master had the stream `id` up to `offset`, and continues it under its own.
  void Resume(std::string_view id, int64_t offset);
  // The master's stream goes on under another id.
  void Rename(std::string_view id);
  // A replica becomes a master.
  void TakeOver() { Rename(new_id_()); }

  void Append(std::string_view bytes);
  // The bytes from `offset` on. Nullopt if `id` does not name this stream there, or they are not
  // kept any more.
  std::optional<std::string> From(std::string_view id, int64_t offset) const;

 private:
  void ForgetFormer();
  // How many of the last bytes are held.
  size_t held_bytes() const;
  // Forgets bytes that need not be kept.
  void Trim();

  const std::function<std::string()> new_id_;
  std::string id_;
  int64_t offset_ = 0;
  std::string former_id_;
  int64_t former_end_ = -1;
  bool is_kept_ = false;
  std::string kept_;  // At most twice the limit, or what is held.
  size_t limit_bytes_ = 0;
  std::optional<int64_t> held_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_REPLICATION_REPLICATION_STREAM_H_
