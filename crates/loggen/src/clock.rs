//! The wall clock as text, made once a second: messages carry the time of sending without formatting it each.

use jiff::Zoned;
use jiff::fmt::strtime;

/// Text of one moment in the forms messages need. All local time.
#[derive(Clone, Debug)]
pub struct Moment {
    /// `2026-11-21T10:00:00`, always 19 bytes.
    pub iso: String,
    /// `+00:00`, always 6 bytes.
    pub offset: String,
    /// `Nov 21 10:00:00`, always 15 bytes.
    pub bsd: String,
    pub unix_seconds: i64,
}

impl Moment {
    pub fn now() -> Moment {
        Moment::at(&Zoned::now())
    }

    pub fn at(when: &Zoned) -> Moment {
        let text = |format: &str| strtime::format(format, when).unwrap_or_default();
        Moment {
            iso: text("%Y-%m-%dT%H:%M:%S"),
            offset: text("%:z"),
            bsd: text("%b %e %H:%M:%S"),
            unix_seconds: when.timestamp().as_second(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_have_fixed_width() {
        let when: Zoned = "2026-11-01T09:05:07+02:00[+02:00]".parse().unwrap();
        let moment = Moment::at(&when);
        assert_eq!(moment.iso, "2026-11-01T09:05:07");
        assert_eq!(moment.offset, "+02:00");
        assert_eq!(moment.bsd, "Nov  1 09:05:07");
    }
}
