// A float as text, in the two ways of the original systems' JSON writers.
//
//   FloatRepr(1e16)            // "1e+16"     Python's repr, json module, str()
//   PydanticFloatText(1e16)    // "1e16"      pydantic-core
//
// Both write the fewest digits that read back to the value; they differ in when and how an exponent
// is written. pydantic-core's form may change with its version (it is serde_json's), so it is
// behind one function.
//
// Thread-safety: pure functions.
// Source: reference/relayna.md 0.1.
#ifndef REDOUBLE_CORE_PYTHON_FLOAT_TEXT_H_
#define REDOUBLE_CORE_PYTHON_FLOAT_TEXT_H_

#include <string>

namespace redouble::python {

// With an exponent below 1e-4 and from 1e16 up: a sign and at least two digits, "1e-07",
// "1.5e+300". Whole numbers end in ".0". Not finite: "nan", "inf", "-inf".
std::string FloatRepr(double value);

// With an exponent below 1e-5 and from 1e16 up, written bare: "1e-7", "1.5e300". Whole numbers end
// in ".0". Of finite values only.
std::string PydanticFloatText(double value);

}  // namespace redouble::python

#endif  // REDOUBLE_CORE_PYTHON_FLOAT_TEXT_H_
