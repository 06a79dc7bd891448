// Korvet for the domain replay: the operations that its recordings represent (korvet_steps.h), and
// its tables.
//
//   | table                                   | checks                                           |
//   | --------------------------------------- | ------------------------------------------------ |
//   | rows of key_hex, murmur2_signed,        | the hash of a key and its partition for each     |
//   |   to_positive, partition                | count                                            |
//   | rows of canonical, kafka_base64url,     | the texts of a topic id, its bytes, and whether  |
//   |   wire_hex, reserved, starts_with_dash  | it is reserved                                   |
//   | encode, decode, max_ms, max_seq,        | offsets from ids and back, for each number of    |
//   |   seed_example                          | sequence bits                                    |
//
// The writes of an operation must equal the recorded ones in their order, with MULTI and EXEC if
// the recording has them. The recorded reads must be among those sent: Korvet sends more, because
// it reads the topic first, and bounds and records together, while the recorder used what it knew.
// Results are compared by the members that an operation returns; other members are remarks of the
// recorder.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_GOLDEN_KORVET_KORVET_DOMAIN_H_
#define REDOUBLE_TESTS_GOLDEN_KORVET_KORVET_DOMAIN_H_

#include "redouble/tests/golden/replay/domain.h"

namespace redouble::inline v0_1::golden {

Domain KorvetDomain();

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_KORVET_KORVET_DOMAIN_H_
