// Korvet for the domain replay: its operations as its recordings stand for them (korvet_steps.h),
// and its tables.
//
//   | table                                   | checks                                           |
//   | --------------------------------------- | ------------------------------------------------ |
//   | rows of key_hex, murmur2_signed,        | the hash of a key and its partition for each     |
//   |   to_positive, partition                | count                                            |
//   | rows of canonical, kafka_base64url,     | the texts of a topic id, its bytes, and whether  |
//   |   wire_hex, reserved, starts_with_dash  | it is one of those that nobody may have          |
//   | encode, decode, max_ms, max_seq,        | offsets from ids and back, for each number of    |
//   |   seed_example                          | sequence bits                                    |
//
// Commands are compared by what they write: the writes of an operation must be those recorded, in
// their order, with MULTI and EXEC where the recording has them; reads that were recorded must be
// among those sent. Korvet sends some more: it looks at the topic first, and asks for bounds and
// records at one moment, where the recorder went on from what it knew. Results are compared by the
// members that an operation gives; others are the recorder's observations.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_GOLDEN_KORVET_DOMAIN_H_
#define REDOUBLE_TESTS_GOLDEN_KORVET_DOMAIN_H_

#include "tests/golden/domain.h"

namespace redouble::golden {

Domain KorvetDomain();

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_KORVET_DOMAIN_H_
