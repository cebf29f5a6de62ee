//! [`Pairs`]: two programs that take turns at the same work.

use std::time::{Duration, Instant};

/// The times of both, pair by pair.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    times: Vec<(Duration, Duration)>,
}

impl Pairs {
    /// Makes one pair to warm up and `rounds` that count. Who is first changes from pair to pair.
    pub(crate) fn measure(
        rounds: usize,
        mut ours: impl FnMut() -> anyhow::Result<()>,
        mut theirs: impl FnMut() -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        Self::timed(rounds, || time(&mut ours), || time(&mut theirs))
    }

    /// The same where the work says itself how long it took, because something has to be prepared for it or looked at
    /// after it.
    pub(crate) fn timed(
        rounds: usize,
        mut ours: impl FnMut() -> anyhow::Result<Duration>,
        mut theirs: impl FnMut() -> anyhow::Result<Duration>,
    ) -> anyhow::Result<Self> {
        let mut pairs = Self::default();
        for round in 0..=rounds {
            let times = if round % 2 == 0 {
                let first = ours()?;
                (first, theirs()?)
            } else {
                let first = theirs()?;
                (ours()?, first)
            };
            if round > 0 {
                pairs.times.push(times);
            }
        }
        Ok(pairs)
    }

    /// The median of ours and of theirs.
    pub(crate) fn medians(&self) -> (Duration, Duration) {
        (
            median(self.times.iter().map(|pair| pair.0).collect()),
            median(self.times.iter().map(|pair| pair.1).collect()),
        )
    }

    /// Ours by theirs, pair by pair: the median, and the quartiles on both sides of it.
    pub(crate) fn ratio(&self) -> (f64, f64, f64) {
        let ratios: Vec<f64> =
            self.times.iter().map(|(ours, theirs)| ours.as_secs_f64() / theirs.as_secs_f64()).collect();
        let ratio = |number| {
            let mut sorted = ratios.clone();
            sorted.sort_by(f64::total_cmp);
            sorted.get(sorted.len().saturating_sub(1) * number / 4).copied().unwrap_or_default()
        };
        (ratio(2), ratio(1), ratio(3))
    }
}

/// The middle one of several.
pub(crate) fn median(times: Vec<Duration>) -> Duration {
    quartile(times, 2)
}

fn quartile(mut times: Vec<Duration>, number: usize) -> Duration {
    times.sort_unstable();
    times.get(times.len().saturating_sub(1) * number / 4).copied().unwrap_or_default()
}

/// How long it takes.
pub(crate) fn time(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Duration> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed())
}

/// For a person.
pub(crate) fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

/// For a person, where milliseconds are too coarse.
pub(crate) fn microseconds(time: Duration) -> String {
    format!("{} µs", time.as_micros())
}
