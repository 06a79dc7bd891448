// Account: what an amount should be at the end of a run, and which documented hazards explain it if
// it is something else.
//
// Use it for promises such as "the counter is the sum of the settled costs". An operation whose
// outcome the caller does not know adds a range; so does each hazard to which a run was open.
//
//   Account account;
//   account.Expect(0.75, 0.75);      // Settled.
//   account.Expect(0, 0.5);          // The outcome is unknown.
//   account.Allow("R6", 0, 0.75);    // It was settled again.
//   account.Explain(1.5);            // "R6"
//
// Thread-safety: values.
#ifndef REDOUBLE_SIM_STORM_ACCOUNT_H_
#define REDOUBLE_SIM_STORM_ACCOUNT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::inline v0_1::sim {

class Account {
 public:
  // Adds a part that is between the two amounts.
  void Expect(double low, double high);
  // The hazard may have changed the amount by something between these two. Hazards that are allowed
  // first are preferred as explanations.
  void Allow(std::string_view section, double low, double high);

  // Returns nullopt if the amount is expected. Otherwise the hazard that explains it; the first of
  // the fewest hazards that explain it together; kUndocumented if none do.
  std::optional<std::string> Explain(double actual) const;
  // "0.75 to 1.25", without the hazards.
  std::string ToString() const;

 private:
  struct Range {
    std::string section;
    double low = 0;
    double high = 0;
  };

  // Whether the hazards whose bits are set explain the amount together.
  bool Explains(unsigned hazards, double actual) const;

  Range expected_;
  std::vector<Range> hazards_;  // One for each section.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_ACCOUNT_H_
