#include "redouble/sim/server/process/tick_clock.h"

#include <fstream>
#include <string>

namespace redouble::inline v0_1::sim {

bool TicksAreSteady() {
  if (ReadTicks() == 0) return false;
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  return static_cast<bool>(std::getline(file, source)) && source == "tsc";
}

}  // namespace redouble::inline v0_1::sim
