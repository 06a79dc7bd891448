// Relayna Gateway: request rate limits, budgets, reservations and readiness.
//
// Includes every header of core/gateway that other programs use. The specification, with the key
// table and the numbered hazards, is docs/systems/gateway.md. The functions take a store::Store&
// and run on the memory engine and on live Redis.
//
// Thread-safety: as the store that is passed.
#ifndef REDOUBLE_GATEWAY_H_
#define REDOUBLE_GATEWAY_H_

#include "redouble/version.h"

#if REDOUBLE_HAS_CPP20

#include "redouble/core/gateway/admission.h"
#include "redouble/core/gateway/app/admission.h"
#include "redouble/core/gateway/app/metrics.h"
#include "redouble/core/gateway/app/settings.h"
#include "redouble/core/gateway/app/spend.h"
#include "redouble/core/gateway/budget.h"
#include "redouble/core/gateway/errors.h"
#include "redouble/core/gateway/hardening.h"
#include "redouble/core/gateway/key_rules.h"
#include "redouble/core/gateway/keys.h"
#include "redouble/core/gateway/rate_limiter.h"
#include "redouble/core/gateway/readiness.h"
#include "redouble/core/gateway/reservation.h"
#include "redouble/core/gateway/rust_float.h"

#endif  // REDOUBLE_HAS_CPP20

#endif  // REDOUBLE_GATEWAY_H_
