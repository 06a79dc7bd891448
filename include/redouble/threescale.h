// 3scale's backend: authorization, usage reports, limits, alerts and statistics.
//
// Includes every header of core/threescale that other programs use. The specification, with the key
// table and the numbered hazards, is docs/systems/threescale.md. The functions take a store::Store&
// and run on the memory engine and on live Redis.
//
// Thread-safety: as the store that is passed.
#ifndef REDOUBLE_THREESCALE_H_
#define REDOUBLE_THREESCALE_H_

#include "redouble/version.h"

#if REDOUBLE_HAS_CPP20

#include "redouble/core/threescale/authorize/auth_request.h"
#include "redouble/core/threescale/authorize/authorizer.h"
#include "redouble/core/threescale/authorize/counters.h"
#include "redouble/core/threescale/authorize/limit_usage.h"
#include "redouble/core/threescale/authorize/metric_usage.h"
#include "redouble/core/threescale/backend/backend.h"
#include "redouble/core/threescale/backend/settings.h"
#include "redouble/core/threescale/http/answer_xml.h"
#include "redouble/core/threescale/http/form.h"
#include "redouble/core/threescale/http/http_contract.h"
#include "redouble/core/threescale/model/alert_limit.h"
#include "redouble/core/threescale/model/application.h"
#include "redouble/core/threescale/model/job_queue.h"
#include "redouble/core/threescale/model/metric.h"
#include "redouble/core/threescale/model/referrer.h"
#include "redouble/core/threescale/model/requests.h"
#include "redouble/core/threescale/model/service.h"
#include "redouble/core/threescale/model/service_token.h"
#include "redouble/core/threescale/model/system_data.h"
#include "redouble/core/threescale/model/usage.h"
#include "redouble/core/threescale/model/usage_limit.h"
#include "redouble/core/threescale/notify/alerts.h"
#include "redouble/core/threescale/notify/events.h"
#include "redouble/core/threescale/notify/notifier.h"
#include "redouble/core/threescale/report/aggregator.h"
#include "redouble/core/threescale/report/error_log.h"
#include "redouble/core/threescale/report/listener.h"
#include "redouble/core/threescale/report/reporter.h"
#include "redouble/core/threescale/report/stats_cleaner.h"
#include "redouble/core/threescale/report/stats_reader.h"
#include "redouble/core/threescale/report/worker.h"
#include "redouble/core/threescale/text/integer.h"
#include "redouble/core/threescale/text/json_text.h"
#include "redouble/core/threescale/text/periods.h"
#include "redouble/core/threescale/text/query_text.h"
#include "redouble/core/threescale/text/timestamp.h"

#endif  // REDOUBLE_HAS_CPP20

#endif  // REDOUBLE_THREESCALE_H_
