// SHA-1 and SHA-256, by OpenSSL, of std::string_view.
//
// Use Sha1Hex for the names of scripts (EVALSHA, SCRIPT LOAD, redis.sha1hex), and SHA-256 for
// content (cache keys, workflow contracts, the hash of a trace).
//
//   base::Sha1Hex("return 1")  // "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"
//
//   base::Sha256 chain;
//   chain.Update(line_1);
//   std::string so_far = chain.HexDigest();  // of line_1
//   chain.Update(line_2);
//   std::string both = chain.HexDigest();    // of line_1 + line_2
//
// Thread-safety: pure functions; a Sha256 object is for one thread at a time.
// Source: Redis 7.0 SCRIPT LOAD; FIPS 180-4.
#ifndef REDOUBLE_CORE_BASE_HASH_DIGEST_H_
#define REDOUBLE_CORE_BASE_HASH_DIGEST_H_

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::base {

// A SHA-1 as bytes.
using Sha1Bytes = std::array<char, 20>;
// Returns the SHA-1 of `bytes`.
Sha1Bytes Sha1(std::string_view bytes);

// Returns the SHA-1 of `bytes` as 40 lower-case hexadecimal digits. For identification, not for
// security.
std::string Sha1Hex(std::string_view bytes);

// Returns the SHA-256 of `bytes` as 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

// A SHA-256 of bytes that arrive in parts. The digest does not depend on how they are divided.
class Sha256 {
 public:
  // Starts with no bytes.
  Sha256();
  ~Sha256();
  // A copy has the same bytes so far and continues independently.
  Sha256(const Sha256& other);
  Sha256& operator=(const Sha256& other);
  // A moved-from object may only be destroyed or assigned to.
  Sha256(Sha256&& other) noexcept;
  Sha256& operator=(Sha256&& other) noexcept;

  // Appends `bytes`.
  void Update(std::string_view bytes);

  // Returns the digest of all bytes so far as 64 lower-case hexadecimal digits. Update() may be
  // called afterwards.
  std::string HexDigest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_HASH_DIGEST_H_
