// Whatever the bytes of a payload of RESTORE are, it is refused, or its value works: it can be
// dumped, restored again with the same contents, read and changed by every command.
//
// CONTRIBUTING.md has the commands that build and run a fuzz target.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/tests/fuzz/hostile_engine.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

// Commands that read and change a value of each type. Those of the other types return WRONGTYPE.
const std::vector<Words>& Commands() {
  static const std::vector<Words> commands = {
      {"TYPE", "k"},
      {"OBJECT", "ENCODING", "k"},
      {"DEBUG", "OBJECT", "k"},
      {"MEMORY", "USAGE", "k"},
      {"SORT", "k", "ALPHA"},
      {"GET", "k"},
      {"GETRANGE", "k", "1", "-2"},
      {"BITCOUNT", "k"},
      {"BITPOS", "k", "1"},
      {"PFCOUNT", "k"},
      {"PFADD", "k", "a", "b"},
      {"PFMERGE", "merged", "k"},
      {"APPEND", "k", "x"},
      {"SETBIT", "k", "7", "1"},
      {"LRANGE", "k", "0", "-1"},
      {"LINDEX", "k", "-1"},
      {"LPOS", "k", "x"},
      {"LINSERT", "k", "BEFORE", "x", "y"},
      {"LSET", "k", "0", "y"},
      {"RPUSH", "k", "1", "x"},
      {"LREM", "k", "0", "1"},
      {"LTRIM", "k", "1", "-2"},
      {"LPOP", "k", "2"},
      {"HGETALL", "k"},
      {"HSCAN", "k", "0"},
      {"HRANDFIELD", "k", "-3", "WITHVALUES"},
      {"HSET", "k", "f", "v"},
      {"HINCRBY", "k", "n", "1"},
      {"HDEL", "k", "f"},
      {"SMEMBERS", "k"},
      {"SINTER", "k", "k"},
      {"SRANDMEMBER", "k", "-3"},
      {"SADD", "k", "1", "x"},
      {"SREM", "k", "1"},
      {"SPOP", "k"},
      {"ZRANGE", "k", "0", "-1", "WITHSCORES"},
      {"ZRANGEBYSCORE", "k", "-inf", "+inf"},
      {"ZRANGEBYLEX", "k", "-", "+"},
      {"ZADD", "k", "1", "x"},
      {"ZINCRBY", "k", "1", "x"},
      {"ZREVRANK", "k", "x"},
      {"ZREMRANGEBYRANK", "k", "0", "0"},
      {"ZPOPMAX", "k"},
      {"XINFO", "STREAM", "k", "FULL", "COUNT", "0"},
      {"XRANGE", "k", "-", "+"},
      {"XREVRANGE", "k", "+", "-", "COUNT", "3"},
      {"XGROUP", "CREATE", "k", "fuzz", "0"},
      {"XREADGROUP", "GROUP", "fuzz", "c", "STREAMS", "k", ">"},
      {"XAUTOCLAIM", "k", "fuzz", "d", "0", "0"},
      {"XADD", "k", "*", "f", "v"},
      {"XTRIM", "k", "MAXLEN", "2"},
      {"XTRIM", "k", "MINID", "~", "1"},
      {"XACK", "k", "fuzz", "0-1"},
      {"XDEL", "k", "0-1"},
      {"XGROUP", "DESTROY", "k", "fuzz"},
      {"COPY", "k", "copied"},
      {"RENAME", "k", "renamed"},
  };
  return commands;
}

void Restore(std::string_view bytes) {
  HostileEngine engine;
  if (engine.Run({"RESTORE", "k", "0", Sealed(bytes)}).is_error()) return;
  const std::string dump = engine.Run({"DUMP", "k"}).text();
  HostileEngine::Require(engine.Run({"RESTORE", "again", "0", dump}) == Reply::Ok(),
                         "what was dumped is restored");
  const Reply digests = engine.Run({"DEBUG", "DIGEST-VALUE", "k", "again"});
  HostileEngine::Require(digests.elements()[0] == digests.elements()[1],
                         "what was dumped and restored has the same contents");
  for (const Words& command : Commands()) engine.Run(command);
}

}  // namespace
}  // namespace redouble::inline v0_1::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  redouble::tests::Restore(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
