// RoundTripTable: the table of round trips on a page of docs/systems, for tests that measure them.
//
// A test measures every row, so that the page cannot be out of date:
//
//   const RoundTripTable table("docs/systems/gateway.md");
//   EXPECT_EQ(table.rows().at("release").today, measured);
//
// The table follows a line `<!-- measured: round trips -->`; its first column is the operation, the
// second the number of round trips today, the third the fewest possible.
//
// Thread-safety: constant after construction.
#ifndef REDOUBLE_TESTS_SUPPORT_ROUND_TRIP_TABLE_H_
#define REDOUBLE_TESTS_SUPPORT_ROUND_TRIP_TABLE_H_

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace redouble::inline v0_1::tests {

class RoundTripTable {
 public:
  struct Row {
    int today = -1;
    int fewest = -1;
  };

  // Reads the page; without the table there are no rows.
  explicit RoundTripTable(const std::string& page) {
    std::ifstream file(page);
    std::string line;
    bool inside = false;
    while (std::getline(file, line)) {
      if (line == "<!-- measured: round trips -->") inside = true;
      if (line == "<!-- end -->") inside = false;
      if (!inside) continue;
      const std::vector<std::string> cells = absl::StrSplit(line, " | ");
      if (cells.size() < 3) continue;
      Row row;
      if (!absl::SimpleAtoi(cells[1], &row.today)) continue;
      if (!absl::SimpleAtoi(cells[2], &row.fewest)) continue;
      rows_[std::string(absl::StripPrefix(cells[0], "| "))] = row;
    }
  }

  // By operation.
  const std::map<std::string, Row>& rows() const { return rows_; }

 private:
  std::map<std::string, Row> rows_;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_SUPPORT_ROUND_TRIP_TABLE_H_
