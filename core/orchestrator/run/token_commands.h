// AddToken: the command that publishes a token.
//
// For the coordinator, which knows where tokens go.
//
//   store::Batch batch(store::Batch::Atomicity::kPipeline);
//   const TokenWriter writer = {keys, clock.Now(), options.stream_max_length};
//   const absl::Status added = AddToken(writer, ir, configs, token, signal, batch);
//
// Thread-safety: pure functions.
// Source: docs/systems/orchestrator.md 2.3, 2.4 and 4.3.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RUN_TOKEN_COMMANDS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RUN_TOKEN_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "redouble/core/orchestrator/graph/ir.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/orchestrator/run/config_templates.h"
#include "redouble/core/store/batch.h"

namespace redouble::inline v0_1::orchestrator {

// What all tokens of a signal have in common.
struct TokenWriter {
  Keys keys;
  absl::Time now;
  std::optional<int64_t> stream_max_length;  // MAXLEN ~ of the streams; nullopt: no trimming.
};

// Completes the token, of which id, node, iteration and join count are given, and adds the command
// that publishes it: XADD to the stream of its node's type, or, for an absorber that joins, RPUSH
// of a completion signal to the coordinators. A node that a patch removed has no type; its token
// goes to the default stream. The batch keeps the texts. Errors: those of FormatToken and
// FormatSignal.
absl::Status AddToken(const TokenWriter& writer, const Ir& ir, const ResolvedConfigs& configs,
                      Token token, const CompletionSignal& signal, store::Batch& batch);

// The integer member `name` of a JSON object; nullopt if the text is no object or the member is
// missing. The text comes from outside and may be anything.
std::optional<int64_t> IntegerIn(const std::string& json_text, const char* name);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RUN_TOKEN_COMMANDS_H_
