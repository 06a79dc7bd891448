// The texts of scripts/*.lua, embedded when the program is built.
//
// Thread-safety: constant data.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_SCRIPT_TEXTS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_SCRIPT_TEXTS_H_

#include <string_view>

namespace redouble::orchestrator {

// Each is the file of its name.
extern const std::string_view kApplyDeltaText;
extern const std::string_view kApplyDeltaGuardedText;
extern const std::string_view kCancelApprovalText;
extern const std::string_view kEmitTokensText;
extern const std::string_view kExtendRunText;
extern const std::string_view kFailRunText;
extern const std::string_view kFinishRunText;
extern const std::string_view kHitlDecideText;
extern const std::string_view kHitlPauseText;
extern const std::string_view kJoinArriveText;
extern const std::string_view kJoinQuiesceText;
extern const std::string_view kPatchIrText;
extern const std::string_view kSortedMembersText;
extern const std::string_view kStartRunText;

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_SCRIPT_TEXTS_H_
