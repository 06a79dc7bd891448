// The gateway for the domain replay: its operations, and its tables of numbers as text.
//
// There are two kinds of table, distinguished by their columns:
//
//   | columns                             | a row                                                 |
//   | ----------------------------------- | ----------------------------------------------------- |
//   | value, arg_text, reservation_text   | a double and its text in a command, in a reservation  |
//   | [before,] increment(s), after       | INCRBYFLOAT on the server: the value before (null or  |
//   |   (two or three, with any names)    | absent: no key), one increment or an array of them,   |
//   |                                     | and the last reply                                    |
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_GOLDEN_GATEWAY_GATEWAY_DOMAIN_H_
#define REDOUBLE_TESTS_GOLDEN_GATEWAY_GATEWAY_DOMAIN_H_

#include "redouble/tests/golden/replay/domain.h"

namespace redouble::inline v0_1::golden {

Domain GatewayDomain();

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_GATEWAY_GATEWAY_DOMAIN_H_
