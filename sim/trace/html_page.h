// The page of a recording: one HTML file that needs nothing else, to look at a run and to send to
// somebody.
//
//   std::ofstream("run.html") << HtmlPage(RecordWorld(world));
//
// Time goes from left to right, a column per event, or per moment at which only the clock did
// something. On it stand
//
// * a lane per actor, a mark per command: point at it for the command and its reply, click it to
//   keep the whole event below;
// * a fault as a band over the lane that it fell on, or over all when it fell on the server;
// * a row per key: a bar while it is there, anew at each change, hover it for type, value and TTL;
//   the line in it is the TTL that is left. The text box keeps the keys, and stresses the commands,
//   that have its text in them. A link may come with a filter and an event:
//   run.html#filter=budget:&event=3;
// * the step at which the run failed, as a red column through all of it.
//
// Equal recordings give equal pages. The page loads nothing, from nowhere.
//
// Thread-safety: free function.
#ifndef REDOUBLE_SIM_TRACE_HTML_PAGE_H_
#define REDOUBLE_SIM_TRACE_HTML_PAGE_H_

#include <string>

#include "sim/trace/recording.h"

namespace redouble::sim {

std::string HtmlPage(const Recording& recording);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_TRACE_HTML_PAGE_H_
