// Macros that return early on an error, for functions and for coroutines.
//
// They replace the three lines that every fallible call otherwise needs. Use the CO_ forms in
// coroutines, where `return` is not allowed:
//
//   absl::StatusOr<Receipt> Charge(const Card& card) {
//     REDOUBLE_RETURN_IF_ERROR(Validate(card));
//     REDOUBLE_ASSIGN_OR_RETURN(const Account account, FindAccount(card));
//     return account.receipt;
//   }
//
//   base::Task<absl::StatusOr<int64_t>> Next(store::Store& store) {
//     REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t value, co_await store::Incr(store, "next"));
//     co_return value + 1;
//   }
//
// The error is passed on unchanged. Write out the test where it has to be changed or recorded. A
// declaration whose type contains a comma needs `auto`. The ASSIGN forms declare a variable and are
// more than one statement: do not use them as the body of an `if` without braces.
//
// Thread-safety: no state.
#ifndef REDOUBLE_CORE_BASE_STATUS_STATUS_MACROS_H_
#define REDOUBLE_CORE_BASE_STATUS_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Evaluates an expression of type absl::Status and returns it if it is an error.
#define REDOUBLE_RETURN_IF_ERROR(...) REDOUBLE_INTERNAL_RETURN_IF_ERROR(return, __VA_ARGS__)
#define REDOUBLE_CO_RETURN_IF_ERROR(...) REDOUBLE_INTERNAL_RETURN_IF_ERROR(co_return, __VA_ARGS__)

// Evaluates an expression of type absl::StatusOr<T>. Returns its status if it is an error;
// otherwise initializes the declaration `lhs` with its value.
#define REDOUBLE_ASSIGN_OR_RETURN(lhs, ...)                                                     \
  REDOUBLE_INTERNAL_ASSIGN_OR_RETURN(return, REDOUBLE_INTERNAL_NAME(status_or_, __LINE__), lhs, \
                                           __VA_ARGS__)
#define REDOUBLE_CO_ASSIGN_OR_RETURN(lhs, ...)                                                     \
  REDOUBLE_INTERNAL_ASSIGN_OR_RETURN(co_return, REDOUBLE_INTERNAL_NAME(status_or_, __LINE__), lhs, \
                                     __VA_ARGS__)

#define REDOUBLE_INTERNAL_RETURN_IF_ERROR(return_keyword, ...) \
  do {                                                         \
    absl::Status redouble_status = (__VA_ARGS__);              \
    if (!redouble_status.ok()) return_keyword redouble_status; \
  } while (false)

#define REDOUBLE_INTERNAL_ASSIGN_OR_RETURN(return_keyword, status_or, lhs, ...) \
  auto status_or = (__VA_ARGS__);                                               \
  if (!status_or.ok()) return_keyword std::move(status_or).status();            \
  lhs = *std::move(status_or)

#define REDOUBLE_INTERNAL_NAME(prefix, line) REDOUBLE_INTERNAL_CONCATENATE(prefix, line)
#define REDOUBLE_INTERNAL_CONCATENATE(a, b) a##b

#endif  // REDOUBLE_CORE_BASE_STATUS_STATUS_MACROS_H_
