//! The histogram of a running penstock: how long messages were under way before they were safe.

use std::time::Duration;

/// Counts since the start, or between two looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// Upper bounds in seconds, and messages that took no longer; ascending.
    buckets: Vec<(f64, u64)>,
    longest: f64,
    groups: u64,
    written: u64,
}

impl Times {
    /// Out of what `STATS PROMETHEUS` answers. Of several logs, the sums.
    pub fn read(text: &str) -> Times {
        let mut times = Times::default();
        for line in text.lines() {
            let Some((name, value)) = line.rsplit_once(' ') else { continue };
            let Some((name, labels)) =
                name.strip_prefix("syslogng_disk_log_").and_then(|n| n.split_once('{'))
            else {
                continue;
            };
            let count = value.parse().unwrap_or(0);
            match name {
                "safe_latency_seconds_bucket" => {
                    if let Some(bound) = bound(labels) {
                        times.buckets.push((bound, count));
                    }
                }
                "safe_latency_max_seconds" => {
                    times.longest = times.longest.max(value.parse().unwrap_or(0.0));
                }
                "commits_total" => times.groups += count,
                "written_bytes_total" => times.written += count,
                _ => {}
            }
        }
        times.buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        times
    }

    /// What came after an earlier look. The longest time is that since the start.
    pub fn since(&self, before: &Times) -> Times {
        let earlier = |bound: f64| before.buckets.iter().find(|b| b.0 == bound).map_or(0, |b| b.1);
        Times {
            buckets: self
                .buckets
                .iter()
                .map(|(bound, n)| (*bound, n.saturating_sub(earlier(*bound))))
                .collect(),
            longest: self.longest,
            groups: self.groups.saturating_sub(before.groups),
            written: self.written.saturating_sub(before.written),
        }
    }

    pub fn messages(&self) -> u64 {
        self.buckets.last().map_or(0, |bucket| bucket.1)
    }

    pub fn groups(&self) -> u64 {
        self.groups
    }

    /// Of a group, on average.
    pub fn group_bytes(&self) -> u64 {
        self.written.checked_div(self.groups).unwrap_or(0)
    }

    /// The least of the bounds that so many percent of the messages keep.
    pub fn percentile(&self, percent: u64) -> Duration {
        let wanted = (self.messages() * percent).div_ceil(100).max(1);
        let found = self.buckets.iter().find(|(_, count)| *count >= wanted).map_or(0.0, |(bound, _)| *bound);
        Duration::try_from_secs_f64(found).unwrap_or(self.longest())
    }

    pub fn longest(&self) -> Duration {
        Duration::try_from_secs_f64(self.longest).unwrap_or_default()
    }
}

/// The label `le`, in seconds.
fn bound(labels: &str) -> Option<f64> {
    let (_, rest) = labels.split_once("le=\"")?;
    match rest.split('"').next()? {
        "+Inf" => Some(f64::INFINITY),
        bound => bound.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "syslogng_disk_log_commits_total{dir=\"/d\"} 10\n\
        syslogng_disk_log_safe_latency_max_seconds{dir=\"/d\"} 0.125\n\
        syslogng_disk_log_safe_latency_seconds_bucket{dir=\"/d\",le=\"+Inf\"} 1000\n\
        syslogng_disk_log_safe_latency_seconds_bucket{dir=\"/d\",le=\"0.004\"} 500\n\
        syslogng_disk_log_safe_latency_seconds_bucket{dir=\"/d\",le=\"0.015\"} 990\n\
        syslogng_disk_log_written_bytes_total{dir=\"/d\"} 5000\n";

    #[test]
    fn percentiles_of_what_the_statistics_say() {
        let times = Times::read(TEXT);
        assert_eq!((times.messages(), times.groups(), times.group_bytes()), (1000, 10, 500));
        assert_eq!(times.percentile(50), Duration::from_millis(4));
        assert_eq!(times.percentile(99), Duration::from_millis(15));
        assert_eq!(times.percentile(100), Duration::from_millis(125), "the longest there was");
        let later = Times::read(&TEXT.replace("1000", "1100").replace("990", "1000"));
        let between = later.since(&times);
        assert_eq!((between.messages(), between.groups()), (100, 0));
        assert_eq!(between.percentile(10), Duration::from_millis(15));
        assert_eq!(Times::read("").percentile(99), Duration::ZERO);
    }
}
