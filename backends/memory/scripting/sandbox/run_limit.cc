#include "redouble/backends/memory/scripting/sandbox/run_limit.h"

#include <optional>

#include "redouble/backends/memory/scripting/sandbox/lua_memory.h"
#include "redouble/backends/memory/scripting/sandbox/lua_reply.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr int kInstructionsPerLookAtTheTime = 1000;

int StepOf(const RunLimit::Options& options) {
  const bool measures_time = options.host != nullptr && options.host->RunMillis().has_value();
  return measures_time ? kInstructionsPerLookAtTheTime : kInstructionsPerMilli;
}

}  // namespace

RunLimit::RunLimit(lua_State* state, const Options& options)
    : main_(state),
      options_(options),
      step_(StepOf(options)),
      left_ms_(options.limit_ms),
      end_ms_(options.limit_ms) {
  lua_pushlightuserdata(state, this);
  PopRegistered(state, RegistryKey::kLimit);
  if (options.limit_ms <= 0) return;
  HookEveryStep(state);
  LuaMemory::Of(state).set_meter(this);
}

RunLimit::~RunLimit() {
  LuaMemory::Of(main_).set_meter(nullptr);
  lua_sethook(main_, nullptr, 0, 0);
  lua_pushnil(main_);
  PopRegistered(main_, RegistryKey::kLimit);
}

RunLimit* RunLimit::Of(lua_State* state) {
  PushRegistered(state, RegistryKey::kLimit);
  auto* limit = static_cast<RunLimit*>(lua_touserdata(state, -1));
  lua_pop(state, 1);
  return limit;
}

bool RunLimit::IsOverrun(lua_State* state) {
  const RunLimit* const limit = Of(state);
  return limit != nullptr && limit->overrun();
}

void RunLimit::Raise(lua_State* state) const {
  PushErrorTable(state, options_.error);
  lua_error(state);
  __builtin_unreachable();
}

bool RunLimit::Charge(int64_t instructions) {
  if (is_reached_ || options_.limit_ms <= 0) return is_reached_;
  charged_instructions_ += instructions;
  if (charged_instructions_ < step_) return false;
  left_ms_ -= charged_instructions_ / kInstructionsPerMilli;
  charged_instructions_ %= step_;
  if (measures_time()) run_ms_ = options_.host->RunMillis().value_or(run_ms_);
  is_reached_ = measures_time() ? run_ms_ >= end_ms_ : left_ms_ <= 0;
  return is_reached_;
}

void RunLimit::Act(lua_State* state) {
  const bool continues = !overrun_ && options_.host != nullptr && options_.host->MayContinue();
  if (continues) {
    is_reached_ = false;
    end_ms_ = run_ms_ + 1;
    HookEveryStep(state);
    HookEveryStep(main_);
    return;
  }
  overrun_ = true;
  // From now on each instruction raises the error, so that a pcall in the script cannot suppress
  // it.
  HookEveryInstruction(state);
  HookEveryInstruction(main_);
  Raise(state);
}

void RunLimit::HookEveryStep(lua_State* state) const {
  lua_sethook(state, OnHook, LUA_MASKCOUNT, step_);
}

void RunLimit::HookEveryInstruction(lua_State* state) {
  lua_sethook(state, OnHook, LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

void RunLimit::ChargeWork(lua_State* state, int64_t instructions) {
  RunLimit* limit = Of(state);
  if (limit != nullptr && limit->Charge(instructions)) limit->Act(state);
}

void RunLimit::ChargeCall(lua_State* state, size_t bytes) {
  ChargeWork(state, kInstructionsPerCall + static_cast<int64_t>(bytes) / kBytesPerInstruction);
}

void RunLimit::ChargeAllocation(size_t bytes) {
  // Small blocks are paid for by the instructions that ask for them, and together.
  constexpr size_t kStepBytes = 4096;
  charged_bytes_ += bytes;
  if (charged_bytes_ < kStepBytes) return;
  const auto weight = static_cast<int64_t>(charged_bytes_) / kBytesPerInstruction;
  charged_bytes_ = 0;
  // A hook may be set at any time.
  if (Charge(weight)) HookEveryInstruction(main_);
}

void RunLimit::OnHook(lua_State* state, lua_Debug*) {
  RunLimit* limit = Of(state);
  // A coroutine of an earlier run keeps its hook.
  if (limit == nullptr) return;
  if (limit->Charge(limit->step_)) limit->Act(state);
}

}  // namespace redouble::inline v0_1::memory
