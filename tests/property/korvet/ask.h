// Ask: a command by its words, of a store that answers at once. For tests only.
#ifndef REDOUBLE_TESTS_PROPERTY_KORVET_ASK_H_
#define REDOUBLE_TESTS_PROPERTY_KORVET_ASK_H_

#include <span>
#include <string_view>
#include <vector>

#include "core/base/run.h"
#include "core/base/task.h"
#include "core/store/command.h"
#include "core/store/reply.h"
#include "core/store/store.h"

namespace redouble::korvet {

// The reply; an error of the server is one.
inline store::Reply Ask(store::Store& store, const std::vector<std::string_view>& words) {
  const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
  const auto send = [&]() -> base::Task<absl::StatusOr<store::Reply>> {
    co_return co_await store.Execute(command);
  };
  return base::Run(send()).value();
}

}  // namespace redouble::korvet

#endif  // REDOUBLE_TESTS_PROPERTY_KORVET_ASK_H_
