// Floats as text, in the two formats of the original systems' JSON writers.
//
//   FloatRepr(1e16)            // "1e+16"     Python's repr, json module, str()
//   PydanticFloatText(1e16)    // "1e16"      pydantic-core
//
// Both write the fewest digits that parse back to the value; they differ in when and how they write
// an exponent. pydantic-core uses the format of serde_json, which may change with its version.
//
// Thread-safety: pure functions.
// Source: docs/systems/relayna.md 2.1 and 2.2.
#ifndef REDOUBLE_CORE_PYTHON_FLOAT_TEXT_H_
#define REDOUBLE_CORE_PYTHON_FLOAT_TEXT_H_

#include <string>

namespace redouble::inline v0_1::python {

// Returns Python's repr: with an exponent below 1e-4 and from 1e16 up, which has a sign and at
// least two digits ("1e-07", "1.5e+300"). Whole numbers end in ".0". Values that are not finite are
// "nan", "inf" and "-inf".
std::string FloatRepr(double value);

// Returns pydantic-core's form: with an exponent below 1e-5 and from 1e16 up, which has no plus
// sign and no padding ("1e-7", "1.5e300"). Whole numbers end in ".0". `value` must be finite.
std::string PydanticFloatText(double value);

}  // namespace redouble::inline v0_1::python

#endif  // REDOUBLE_CORE_PYTHON_FLOAT_TEXT_H_
