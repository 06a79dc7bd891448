// RoundTripTable: the table of round trips on a page of docs/systems, for tests that measure them.
//
// A test measures every row, so that the page cannot be out of date:
//
//   const RoundTripTable table("docs/systems/gateway.md");
//   table.ExpectToday(measured);
//
// The table follows a line `<!-- measured: round trips -->`. Its first column is the operation, the
// second its names in C++, the third the number of round trips today, the fourth the fewest
// possible, the fifth the reason for the difference. Only the third is measured: a person adds a
// row with any number, and `bazel run` of the test, instead of `bazel test`, writes the measured
// ones.
//
// Thread-safety: constant after construction.
#ifndef REDOUBLE_TESTS_SUPPORT_ROUND_TRIP_TABLE_H_
#define REDOUBLE_TESTS_SUPPORT_ROUND_TRIP_TABLE_H_

#include <map>
#include <string>

namespace redouble::inline v0_1::tests {

class RoundTripTable {
 public:
  struct Row {
    int today = -1;
    int fewest = -1;
    std::string reason;
  };
  // Round trips by operation.
  using Counts = std::map<std::string, int>;

  // Reads the page; without the table there are no rows.
  explicit RoundTripTable(std::string page);

  // By operation.
  const std::map<std::string, Row>& rows() const { return rows_; }
  // The third column.
  Counts Today() const;

  // Fails the test unless the table has exactly these operations with these numbers, none of which
  // is less than the fewest possible, and a reason wherever both differ. Under `bazel run` it first
  // writes the numbers into the page.
  void ExpectToday(const Counts& measured);

 private:
  void Read(const std::string& path);
  void Write(const std::string& path, const Counts& measured) const;

  const std::string page_;
  std::map<std::string, Row> rows_;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_SUPPORT_ROUND_TRIP_TABLE_H_
