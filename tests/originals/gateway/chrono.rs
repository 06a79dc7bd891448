//! In the place of the crate chrono: times in UTC, and a clock that the caller sets.

use std::sync::atomic::{AtomicI64, Ordering};

static NOW: AtomicI64 = AtomicI64::new(0);

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Utc;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DateTime<Tz> {
    seconds: i64,
    zone: Tz,
}

impl Utc {
    pub fn now() -> DateTime<Utc> {
        DateTime { seconds: NOW.load(Ordering::SeqCst), zone: Utc }
    }

    /// Sets the clock to seconds since 1970.
    pub fn set(seconds: i64) {
        NOW.store(seconds, Ordering::SeqCst);
    }
}

impl DateTime<Utc> {
    /// Knows %Y, %m, %d, %H and %M.
    pub fn format(&self, pattern: &str) -> String {
        let (year, month, day) = civil(self.seconds.div_euclid(86400));
        let second = self.seconds.rem_euclid(86400);
        pattern
            .replace("%Y", &format!("{year:04}"))
            .replace("%m", &format!("{month:02}"))
            .replace("%d", &format!("{day:02}"))
            .replace("%H", &format!("{:02}", second / 3600))
            .replace("%M", &format!("{:02}", second % 3600 / 60))
    }
}

/// Returns year, month and day of a number of days since 1970.
fn civil(mut days: i64) -> (i64, i64, i64) {
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let mut year = 1970;
    while days >= 365 + i64::from(leap(year)) {
        days -= 365 + i64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + i64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    (year, month as i64 + 1, days + 1)
}
