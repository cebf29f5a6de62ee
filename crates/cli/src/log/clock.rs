//! Moments as people read them, in UTC: a log may be read anywhere.

const DAY: u64 = 24 * 60 * 60;

/// `18:16:48`, of milliseconds since 1970.
pub(super) fn time(millis: u64) -> String {
    let seconds = millis / 1000 % DAY;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// `2026-11-30`.
pub(super) fn day(millis: u64) -> String {
    // Counted from a first of March, so that the leap day is the last of its year, in eras of 400 years.
    let days = millis / 1000 / DAY + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{date:02}", era * 400 + year + next)
}

#[cfg(test)]
mod tests {
    use super::{day, time};

    #[test]
    fn days_and_times_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_399, "2000-02-28 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (951_868_800, "2000-03-01 00:00:00"),
            (1_796_062_608, "2026-11-30 18:16:48"),
            (4_107_542_400, "2100-03-01 00:00:00"),
        ] {
            let millis = seconds * 1000 + 999;
            assert_eq!(format!("{} {}", day(millis), time(millis)), expected);
        }
    }
}
