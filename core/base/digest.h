// Cryptographic digests as the field writes them: SHA-1 in lower-case hexadecimal names a script
// (EVALSHA, SCRIPT LOAD, redis.sha1hex), SHA-256 names content (cache keys, workflow contracts) and
// chains the simulator's trace.
//
// Why it exists: one place where OpenSSL's digests meet std::string_view and std::string. The
// computation is pure: no state of the process, no randomness. The functions are safe to call from
// any thread; a Sha256 object is for one thread at a time.
//
//   base::Sha1Hex("return 1")  // "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"
//
//   base::Sha256 chain;
//   chain.Update(line_1);
//   std::string so_far = chain.HexDigest();  // of line_1
//   chain.Update(line_2);
//   std::string both = chain.HexDigest();    // of line_1 + line_2
//
// Source: Redis 7.0 SCRIPT LOAD; FIPS 180-4.

#ifndef REDOUBLE_CORE_BASE_DIGEST_H_
#define REDOUBLE_CORE_BASE_DIGEST_H_

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace redouble::base {

using Sha1Bytes = std::array<char, 20>;
// Returns the SHA-1 of `bytes`.
Sha1Bytes Sha1(std::string_view bytes);

// Returns the SHA-1 of `bytes` as 40 lower-case hexadecimal digits. It identifies; it protects
// nothing.
std::string Sha1Hex(std::string_view bytes);

// Returns the SHA-256 of `bytes` as 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

// A SHA-256 over bytes that arrive in parts. The digest depends on the bytes only, not on where the
// parts end.
class Sha256 {
 public:
  // Of no bytes yet.
  Sha256();
  ~Sha256();
  // A copy goes on from the same bytes, on its own.
  Sha256(const Sha256& other);
  Sha256& operator=(const Sha256& other);
  // Moving takes the state; the moved-from object may only be destroyed or assigned to.
  Sha256(Sha256&& other) noexcept;
  Sha256& operator=(Sha256&& other) noexcept;

  // Appends `bytes`.
  void Update(std::string_view bytes);

  // Returns the digest of all bytes so far, as 64 lower-case hexadecimal digits. More bytes may
  // follow.
  std::string HexDigest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_DIGEST_H_
