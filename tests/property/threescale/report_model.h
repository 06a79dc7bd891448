// ReportModel: a slow second implementation of the effects of reports, written from the
// specification.
//
// It shares nothing with core/threescale: keys, periods, timestamps, texts and arithmetic are
// written again, without a memoizer, on plain maps. Tests run both on the same random reports and
// compare every key, value and TTL.
//
//   model.Report(transactions, now);
//   EXPECT_EQ(model.StringsAt(now), StringsOf(store));
//
// Thread-safety: one thread. Source: docs/systems/threescale.md 4.18 to 4.21.
#ifndef REDOUBLE_TESTS_PROPERTY_THREESCALE_REPORT_MODEL_H_
#define REDOUBLE_TESTS_PROPERTY_THREESCALE_REPORT_MODEL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/civil_time.h"

namespace redouble::inline v0_1::threescale {

// One service, "2". Times are whole seconds since the Unix epoch.
class ReportModel {
 public:
  struct Transaction {
    std::string application;
    std::vector<std::pair<std::string, std::string>> usage;  // Names of metrics and values as text.
    std::optional<int64_t> timestamp;                        // Nullopt if it is missing or invalid.
    std::string code;
  };

  // The service; must be set before the first report.
  bool trimmed_stamps = false;
  std::set<std::string> applications;
  std::map<std::string, std::string> metric_ids;  // By name.
  std::map<std::string, std::string> parents;     // By id.
  struct Limit {
    std::string metric_id;
    std::string metric_name;
    std::string period;
    int64_t value;
  };
  std::vector<Limit> limits;  // In the order in which they are read.
  std::set<int> allowed_levels;

  // Runs a worker's job.
  void Report(const std::vector<Transaction>& transactions, int64_t now);

  // The strings in the database at `now`, by key, with the second of their expiry.
  struct Stored {
    std::string value;
    std::optional<int64_t> expires;

    friend bool operator==(const Stored&, const Stored&) = default;
  };
  std::map<std::string, Stored> StringsAt(int64_t now) const;
  const std::vector<std::string>& events() const { return events_; }
  const std::set<std::string>& traffic() const { return traffic_; }
  int64_t errors() const { return errors_; }

 private:
  using Usage = std::vector<std::pair<std::string, std::string>>;
  struct Counted {
    std::string application;
    Usage usage;
    int64_t time;
    std::string code;
  };

  std::optional<std::vector<Counted>> Parse(const std::vector<Transaction>& transactions,
                                            int64_t now) const;
  std::optional<Usage> Process(const Usage& named) const;
  std::string Segment(const std::string& period, int64_t time) const;
  void Count(const Counted& transaction, int64_t now);
  void Write(const std::string& subject, const std::string& application, const std::string& value,
             int64_t time, int64_t now);
  void WriteOne(const std::string& key, const std::string& value);
  void NoteTraffic(const std::string& application, int64_t now);
  void UpdateAlerts(const std::string& application, int64_t now);
  void Publish(const std::string& type, const std::string& object, int64_t now);
  const Stored* Find(const std::string& key, int64_t now) const;
  int64_t Number(const std::string& key, int64_t now) const;
  void Forget(int64_t now);

  std::map<std::string, Stored> strings_;
  std::vector<std::string> events_;
  std::set<std::string> traffic_;
  int64_t errors_ = 0;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_TESTS_PROPERTY_THREESCALE_REPORT_MODEL_H_
