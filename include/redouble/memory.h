// The memory engine: an in-process, deterministic Redis 7.0 on a virtual clock.
//
//   base::VirtualClock clock;
//   memory::Engine engine(clock);
//   std::unique_ptr<store::Store> redis = engine.Connect();
//
// memory::LoadRdbFile and memory::SaveRdbFile read and write the RDB files of redis-server.
// memory::LoadAppendOnly and memory::AppendOnlyLog do the same for append-only logs.
// Engine::AddEffectSink passes on what a redis-server sends to its replicas; memory::EffectWriter
// makes the bytes.
//
// For GoogleTest cases, redouble/testing.h is shorter.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_MEMORY_H_
#define REDOUBLE_MEMORY_H_

#include "redouble/version.h"

#if REDOUBLE_HAS_CPP20

#include "redouble/backends/memory/append_only/append_only_log.h"
#include "redouble/backends/memory/append_only/load_append_only.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/session.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/propagation/effect_writer.h"
#include "redouble/backends/memory/snapshot/snapshot.h"
#include "redouble/core/base/time/virtual_clock.h"

#endif  // REDOUBLE_HAS_CPP20

#endif  // REDOUBLE_MEMORY_H_
