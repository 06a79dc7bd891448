// Relayna Studio: the service registry, events, health and search.
//
// Includes every header of core/studio that other programs use. The specification, with the key
// table and the numbered hazards, is docs/systems/studio.md. The functions take a store::Store& and
// run on the memory engine and on live Redis.
//
// Thread-safety: as the store that is passed.
#ifndef REDOUBLE_STUDIO_H_
#define REDOUBLE_STUDIO_H_

#include "redouble/version.h"

#if REDOUBLE_HAS_CPP20

#include "redouble/core/studio/app/settings.h"
#include "redouble/core/studio/app/studio.h"
#include "redouble/core/studio/events/event_order.h"
#include "redouble/core/studio/events/event_store.h"
#include "redouble/core/studio/events/event_stream.h"
#include "redouble/core/studio/events/service_event.h"
#include "redouble/core/studio/health/health_document.h"
#include "redouble/core/studio/health/health_service.h"
#include "redouble/core/studio/ingest/ingest_service.h"
#include "redouble/core/studio/ingest/loops.h"
#include "redouble/core/studio/registry/capabilities.h"
#include "redouble/core/studio/registry/ip_address.h"
#include "redouble/core/studio/registry/observability_config.h"
#include "redouble/core/studio/registry/registry.h"
#include "redouble/core/studio/registry/registry_store.h"
#include "redouble/core/studio/registry/service_record.h"
#include "redouble/core/studio/registry/url.h"
#include "redouble/core/studio/search/search_document.h"
#include "redouble/core/studio/search/search_index.h"
#include "redouble/core/studio/search/search_store.h"

#endif  // REDOUBLE_HAS_CPP20

#endif  // REDOUBLE_STUDIO_H_
