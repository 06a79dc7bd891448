// The workflow orchestrator: runs, tokens, workers, approvals and events.
//
// Includes every header of core/orchestrator that other programs use. The specification, with the
// key table and the numbered hazards, is docs/systems/orchestrator.md. The functions take a
// store::Store& and run on the memory engine and on live Redis.
//
// Thread-safety: as the store that is passed.
#ifndef REDOUBLE_ORCHESTRATOR_H_
#define REDOUBLE_ORCHESTRATOR_H_

#include "redouble/version.h"

#if REDOUBLE_HAS_CPP20

#include "redouble/core/orchestrator/app/engine.h"
#include "redouble/core/orchestrator/app/service.h"
#include "redouble/core/orchestrator/app/settings.h"
#include "redouble/core/orchestrator/approvals/approval_worker.h"
#include "redouble/core/orchestrator/approvals/approvals.h"
#include "redouble/core/orchestrator/document_reader.h"
#include "redouble/core/orchestrator/errors.h"
#include "redouble/core/orchestrator/events/run_event_feed.h"
#include "redouble/core/orchestrator/events/run_events.h"
#include "redouble/core/orchestrator/execution_policy.h"
#include "redouble/core/orchestrator/graph/conditions.h"
#include "redouble/core/orchestrator/graph/ir.h"
#include "redouble/core/orchestrator/graph/patch.h"
#include "redouble/core/orchestrator/graph/routing.h"
#include "redouble/core/orchestrator/graph/templates.h"
#include "redouble/core/orchestrator/graph/workflow.h"
#include "redouble/core/orchestrator/key_rules.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/orchestrator/result_cache.h"
#include "redouble/core/orchestrator/results/file_artifacts.h"
#include "redouble/core/orchestrator/results/file_run_store.h"
#include "redouble/core/orchestrator/results/run_store.h"
#include "redouble/core/orchestrator/run/artifacts.h"
#include "redouble/core/orchestrator/run/coordinator.h"
#include "redouble/core/orchestrator/run/monitor.h"
#include "redouble/core/orchestrator/run/signal_queue.h"
#include "redouble/core/orchestrator/run/worker.h"
#include "redouble/core/orchestrator/token_ids.h"

#endif  // REDOUBLE_HAS_CPP20

#endif  // REDOUBLE_ORCHESTRATOR_H_
