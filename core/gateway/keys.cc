#include "redouble/core/gateway/keys.h"

#include <array>
#include <cstddef>
#include <utility>

#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/time/utc.h"

namespace redouble::inline v0_1::gateway {
namespace {

using store::KeyFamily;
using store::KeyLayout;
using store::KeyType;
using store::LayoutRow;
using store::LayoutTable;

constexpr std::string_view kSystem = "gateway";
constexpr std::string_view kSource = "docs/systems/gateway.md 1";

constexpr KeyFamily kRequestRate = {
    .id = "gateway.request_rate",
    .system = kSystem,
    .pattern = "rl:req:{key_id:uuid}:{minute:d12}",
    .type = KeyType::kString,
    .ttl_rule = "set by every check, allowed or rejected",
    .ttl = absl::Seconds(70),
    .lifecycle = "created by the first check of a UTC minute; expires",
    .purpose = "requests of one virtual key in one UTC minute, compared with rpm_limit",
    .source = kSource,
};

constexpr KeyFamily kTokenRate = {
    .id = "gateway.token_rate",
    .system = kSystem,
    .pattern = "rl:tpm:{key_id:uuid}:{minute:d12}",
    .type = KeyType::kString,
    .ttl_rule = kRequestRate.ttl_rule,
    .ttl = absl::Seconds(70),
    .lifecycle = kRequestRate.lifecycle,
    .purpose = "tokens of one virtual key in one UTC minute, compared with its token limit",
    .source = "docs/systems/gateway.md 1, 4.12",
};

constexpr KeyFamily kDailyBudget = {
    .id = "gateway.daily_budget",
    .system = kSystem,
    .pattern = "budget:daily:{key_id:uuid}:{day:d8}",
    .type = KeyType::kString,
    .ttl_rule =
        "set by writes that add or reserve positive spend; settlements leave it alone, and "
        "create the counter without one",
    .ttl = absl::Hours(48),
    .lifecycle = "created by the first write of a UTC day; expires; a refund leaves 0",
    .purpose = "spend of one virtual key in one UTC day, in USD, compared with its daily budget",
    .source = kSource,
};

constexpr KeyFamily kMonthlyBudget = {
    .id = "gateway.monthly_budget",
    .system = kSystem,
    .pattern = "budget:monthly:{key_id:uuid}:{month:d6}",
    .type = KeyType::kString,
    .ttl_rule = kDailyBudget.ttl_rule,
    .ttl = absl::Hours(62 * 24),
    .lifecycle = "created by the first write of a UTC month; expires; a refund leaves 0",
    .purpose =
        "spend of one virtual key in one UTC month, in USD, compared with its monthly budget",
    .source = kSource,
};

constexpr KeyFamily kReservation = {
    .id = "gateway.reservation",
    .system = kSystem,
    .pattern = "budget:reservation:{key_id:uuid}:{request_id:any}",
    .type = KeyType::kString,
    .ttl_rule = "set by the reservation, never extended",
    .ttl = absl::Hours(1),
    .lifecycle =
        "created when a request reserves positive spend; deleted by its settlement; expires",
    .purpose = "what one request in flight has reserved, and in which two counters",
    .source = kSource,
};

// The indexes of the rows below.
enum Row : size_t {
  kRequestRateRow,
  kTokenRateRow,
  kDailyBudgetRow,
  kMonthlyBudgetRow,
  kReservationRow,
};

// In the cluster layout the id of the virtual key is the tag.
constexpr std::array kRows = {
    LayoutRow{kRequestRate, "rl:req:{{{key_id:uuid}}}:{minute:d12}"},
    LayoutRow{kTokenRate, "rl:tpm:{{{key_id:uuid}}}:{minute:d12}"},
    LayoutRow{kDailyBudget, "budget:daily:{{{key_id:uuid}}}:{day:d8}"},
    LayoutRow{kMonthlyBudget, "budget:monthly:{{{key_id:uuid}}}:{month:d6}"},
    LayoutRow{kReservation, "budget:reservation:{{{key_id:uuid}}}:{request_id:any}"},
};

const LayoutTable& Table() {
  static const LayoutTable& table = *new LayoutTable(kRows);
  return table;
}

}  // namespace

std::span<const KeyFamily> KeyFamilies(KeyLayout layout) { return Table().families(layout); }

absl::Duration RequestRateTtl() { return *kRequestRate.ttl; }
absl::Duration TokenRateTtl() { return *kTokenRate.ttl; }
absl::Duration DailyBudgetTtl() { return *kDailyBudget.ttl; }
absl::Duration MonthlyBudgetTtl() { return *kMonthlyBudget.ttl; }
absl::Duration ReservationTtl() { return *kReservation.ttl; }

absl::StatusOr<std::string> Keys::RequestRate(std::string_view key_id, absl::Time now) const {
  return Table().pattern(layout_, kRequestRateRow).Build(key_id, base::FormatUtcMinute(now));
}

absl::StatusOr<std::string> Keys::TokenRate(std::string_view key_id, absl::Time now) const {
  return Table().pattern(layout_, kTokenRateRow).Build(key_id, base::FormatUtcMinute(now));
}

absl::StatusOr<std::string> Keys::DailyBudget(std::string_view key_id, absl::Time now) const {
  return Table().pattern(layout_, kDailyBudgetRow).Build(key_id, base::FormatUtcDay(now));
}

absl::StatusOr<std::string> Keys::MonthlyBudget(std::string_view key_id, absl::Time now) const {
  return Table().pattern(layout_, kMonthlyBudgetRow).Build(key_id, base::FormatUtcMonth(now));
}

absl::StatusOr<BudgetCounterKeys> Keys::Counters(std::string_view key_id, absl::Time now) const {
  REDOUBLE_ASSIGN_OR_RETURN(std::string daily, DailyBudget(key_id, now));
  REDOUBLE_ASSIGN_OR_RETURN(std::string monthly, MonthlyBudget(key_id, now));
  return BudgetCounterKeys{std::move(daily), std::move(monthly)};
}

absl::StatusOr<std::string> Keys::Reservation(const BudgetRequest& request) const {
  return Table().pattern(layout_, kReservationRow).Build(request.key_id, request.request_id);
}

std::string_view Keys::ReservationPattern() const {
  return layout_ == KeyLayout::kCluster ? "budget:reservation:{*" : "budget:reservation:*";
}

bool Keys::IsReservation(std::string_view key) const {
  return Table().pattern(layout_, kReservationRow).Parse(key).has_value();
}

std::optional<absl::Duration> Keys::CounterTtl(std::string_view key) const {
  if (Table().pattern(layout_, kDailyBudgetRow).Parse(key)) return DailyBudgetTtl();
  if (Table().pattern(layout_, kMonthlyBudgetRow).Parse(key)) return MonthlyBudgetTtl();
  return std::nullopt;
}

bool Keys::SettleTogether(std::string_view reservation, const BudgetCounterKeys& counters) const {
  if (layout_ == KeyLayout::kDocumented) return true;
  const std::string_view tag = base::HashTag(reservation);
  for (const std::string* counter : {&counters.daily, &counters.monthly}) {
    if (!CounterTtl(*counter) || base::HashTag(*counter) != tag) return false;
  }
  return true;
}

}  // namespace redouble::inline v0_1::gateway
