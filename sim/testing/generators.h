// RapidCheck generators for keys, values and commands.
//
// Use them in properties of code that works on Redis: generate what other clients do to the same
// keys, or the operations themselves. Few keys and members make collisions likely. Failing cases
// shrink to the first key and member, to short values and to 0, and to the first command of the
// selected types in the table of generators.cc.
//
//   RC_GTEST_PROP(Cart, AgreesWithAMap, ()) {
//     redouble::testing::Redis redis;
//     for (const auto& words : *rc::gen::container<std::vector<Words>>(Commands({"hash"}))) {
//       redis.Do(words);
//       ...
//     }
//   }
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_SIM_TESTING_GENERATORS_H_
#define REDOUBLE_SIM_TESTING_GENERATORS_H_

#include <rapidcheck.h>

#include <string>
#include <string_view>
#include <vector>

namespace redouble::inline v0_1::testing {

// A command's name and its arguments.
using Words = std::vector<std::string>;

// "key:0" to "key:3".
rc::Gen<std::string> Keys();
// Texts, decimal numbers, the empty string and arbitrary bytes.
rc::Gen<std::string> Values();
// "a" to "d": fields of hashes, members of sets and sorted sets.
rc::Gen<std::string> Members();

// Commands on one key (two for SMOVE, RENAME and the like), as clients send them. `types` selects
// them by the kind of value: "string", "list", "set", "hash", "zset", "stream", and "key" for
// commands of any key (DEL, EXPIRE, PERSIST, RENAME, ...). The empty list selects all. Commands
// that block are never generated. `types` must not have another word.
rc::Gen<Words> Commands(const std::vector<std::string_view>& types = {});

}  // namespace redouble::inline v0_1::testing

#endif  // REDOUBLE_SIM_TESTING_GENERATORS_H_
