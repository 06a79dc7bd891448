#include "redouble/sim/json/json_double.h"

#include <cmath>

namespace redouble::inline v0_1::sim {

Json JsonDouble(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "inf" : "-inf";
}

}  // namespace redouble::inline v0_1::sim
