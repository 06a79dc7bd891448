// HtmlPage: renders a recording as one self-contained HTML file.
//
// Use it to look at a run, or to send it to a colleague. The page loads nothing else.
//
//   std::ofstream("run.html") << HtmlPage(RecordWorld(world));
//
// Time goes from left to right. There is a column for each event, and for each time at which only
// the clock caused a change; few columns are wide ones. The page shows
//
// * a lane for each actor with a mark and the words of each command. Hover over a mark, click it,
// or
//   move with the arrow keys to see the whole event in the panel below; at first the panel shows
//   the failing event, or the first one.
// * a fault as a band over the lane of the affected actor, or over all lanes if it affects the
//   server.
// * a row for each key with a bar while the key exists; a long key is shortened in the middle. A
// new
//   bar starts at each change; hover over it for type, value and TTL. The filled part of the bar
//   and the text below are the remaining TTL. The text box ("/" moves to it) filters the keys and
//   highlights the commands by their text.
// * the step at which the run failed, as a red column, and the commands that repeat the run.
//
// A link can carry a filter, an event and a theme: run.html#filter=budget:&event=3&theme=dark.
// Without a theme, the page follows the browser's preference. It works from 480 pixels on.
//
// Equal recordings give equal pages.
//
// Thread-safety: a free function without state.
#ifndef REDOUBLE_SIM_RECORDING_HTML_PAGE_H_
#define REDOUBLE_SIM_RECORDING_HTML_PAGE_H_

#include <string>

#include "redouble/sim/recording/recording.h"

namespace redouble::inline v0_1::sim {

std::string HtmlPage(const Recording& recording);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_RECORDING_HTML_PAGE_H_
