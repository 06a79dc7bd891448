// Ask: sends a command to a store that replies at once, and returns the reply.
//
// Use it in tests to inspect a server. An error reply is returned as a reply; an error status
// throws.
//
//   EXPECT_EQ(Ask(store, {"HLEN", "korvet:topic:orders"}), store::Reply::Integer(1));
//
// Thread-safety: that of the store. For tests only.
#ifndef REDOUBLE_TESTS_PROPERTY_KORVET_ASK_H_
#define REDOUBLE_TESTS_PROPERTY_KORVET_ASK_H_

#include <span>
#include <string_view>
#include <vector>

#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::korvet {

// Returns the reply, which may be an error reply.
inline store::Reply Ask(store::Store& store, const std::vector<std::string_view>& words) {
  const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
  const auto send = [&]() -> base::Task<absl::StatusOr<store::Reply>> {
    co_return co_await store.Execute(command);
  };
  return base::Run(send()).value();
}

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_TESTS_PROPERTY_KORVET_ASK_H_
