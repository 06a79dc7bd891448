// Relayna's SDK: task status, observations, event feeds and the dead letter queue.
//
// Includes every header of core/relayna that other programs use. The specification, with the key
// table and the numbered hazards, is docs/systems/relayna.md. The functions take a store::Store&
// and run on the memory engine and on live Redis.
//
// Thread-safety: as the store that is passed.
#ifndef REDOUBLE_RELAYNA_H_
#define REDOUBLE_RELAYNA_H_

#include "redouble/version.h"

#if REDOUBLE_HAS_CPP20

#include "redouble/core/relayna/append_once.h"
#include "redouble/core/relayna/dlq/dlq_record.h"
#include "redouble/core/relayna/dlq/dlq_replay_service.h"
#include "redouble/core/relayna/dlq/dlq_store.h"
#include "redouble/core/relayna/event_stream.h"
#include "redouble/core/relayna/execution/execution_graph.h"
#include "redouble/core/relayna/execution/execution_graph_service.h"
#include "redouble/core/relayna/hardening.h"
#include "redouble/core/relayna/key_rules.h"
#include "redouble/core/relayna/keys.h"
#include "redouble/core/relayna/observation_store.h"
#include "redouble/core/relayna/sdk/output_aliases.h"
#include "redouble/core/relayna/sdk/sdk.h"
#include "redouble/core/relayna/sdk/settings.h"
#include "redouble/core/relayna/sdk/task_timeline.h"
#include "redouble/core/relayna/service_event_feed.h"
#include "redouble/core/relayna/status_store.h"
#include "redouble/core/relayna/tokens.h"
#include "redouble/core/relayna/workflow_contract_store.h"

#endif  // REDOUBLE_HAS_CPP20

#endif  // REDOUBLE_RELAYNA_H_
