// Proves that the engine has a Lua of its own, compiled as C++, also in a program that links the C
// build: an error of a script unwinds the C++ frames that it passes. The C build jumps over them,
// and what they own is never freed.

#include <cstdlib>
#include <iostream>
#include <lua5.1/lua.hpp>
#include <new>
#include <string>

#include "redouble/memory.h"
#include "redouble/store.h"

namespace base = redouble::base;
namespace store = redouble::store;

namespace {

int64_t live_blocks = 0;

// The C build, used by the program itself.
bool CallsTheCBuild() {
  lua_State* state = luaL_newstate();
  const bool failed = luaL_dostring(state, "return 1 + nil") != 0;
  lua_close(state);
  return failed;
}

// A script that is stopped in redis.call, by the time limit, while the engine holds the words.
bool ScriptFails(store::Store& redis) {
  const std::string word(500'000, 'x');
  store::Batch batch(store::Batch::Atomicity::kTransaction);
  store::Command& eval =
      batch.Add(store::CommandId::kEval, {"return redis.call('DEL', unpack(ARGV))", "0"});
  for (int i = 0; i < 12; ++i) eval.Add(word);
  const auto replies = base::Run(store::Execute(redis, batch));
  return replies.ok() && replies->size() == 1 && replies->front().is_error();
}

}  // namespace

void* operator new(size_t size) {
  ++live_blocks;
  if (void* block = std::malloc(size)) return block;
  throw std::bad_alloc();
}

void operator delete(void* block) noexcept {
  if (block != nullptr) --live_blocks;
  std::free(block);
}

void operator delete(void* block, size_t) noexcept { operator delete(block); }

int main() {
  base::VirtualClock clock;
  redouble::memory::Engine engine(clock, {.busy_reply_threshold_ms = 1});
  const auto redis = engine.Connect();
  bool fails = CallsTheCBuild() && ScriptFails(*redis);

  const int64_t before = live_blocks;
  for (int i = 0; i < 100; ++i) fails = fails && ScriptFails(*redis);
  const int64_t lost = live_blocks - before;

  std::cout << "scripts fail: " << fails << "\n"
            << "blocks lost in 100 errors: " << lost << "\n";
  return fails && lost == 0 ? 0 : 1;
}
