//! The options that change what a template prints: the group every driver with a template takes.

use record::Zone;

/// `ts-format()`: the style of the STAMP macro.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TsFormat {
    /// `Mmm dd hh:mm:ss`, the form of RFC 3164.
    #[default]
    Bsd,
    /// RFC 3339 with the offset from UTC.
    Iso,
    /// `YYYY Mmm dd hh:mm:ss`.
    Full,
    /// Seconds since 1970.
    Unix,
}

impl TsFormat {
    /// Every spelling that `ts-format()` takes.
    pub const NAMES: &[(&str, TsFormat)] = &[
        ("rfc3164", TsFormat::Bsd),
        ("bsd", TsFormat::Bsd),
        ("rfc3339", TsFormat::Iso),
        ("iso", TsFormat::Iso),
        ("full", TsFormat::Full),
        ("unix", TsFormat::Unix),
        ("utc", TsFormat::Unix),
    ];

    pub fn named(name: &str) -> Option<TsFormat> {
        TsFormat::NAMES.iter().find(|(n, _)| *n == name).map(|(_, format)| *format)
    }
}

/// `on-error()`: what becomes of a value that is not of the type it should have, in output that has types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// Nothing is printed.
    #[default]
    DropMessage,
    /// The value is left out.
    DropProperty,
    /// The value is printed as a text.
    FallbackToString,
}

impl OnError {
    pub const NAMES: &[(&str, OnError)] = &[
        ("drop-message", OnError::DropMessage),
        ("drop-property", OnError::DropProperty),
        ("fallback-to-string", OnError::FallbackToString),
    ];

    /// By its name, with `silently-` in front or not.
    pub fn named(name: &str) -> Option<OnError> {
        let name = name.strip_prefix("silently-").unwrap_or(name);
        OnError::NAMES.iter().find(|(n, _)| *n == name).map(|(_, what)| *what)
    }
}

/// What a template is compiled for. The caller merges global and driver options first.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateOptions {
    pub ts_format: TsFormat,
    /// Digits of the second's fraction, 0..=9; a stamp has six, the rest are zeros.
    pub frac_digits: u8,
    /// `time-zone()` of the destination, else of the global options. Without one a time is printed in the
    /// zone stored with it: the sender's for the message's own stamp, the local one for the others.
    pub time_zone: Option<Zone>,
    /// `local-time-zone()`: the zone of macros in file names, see [`TemplateOptions::for_file_names`].
    pub local_time_zone: Option<Zone>,
    /// `template-escape()`: of what macros print, not of what functions print.
    pub escape: bool,
    /// Macros in arguments of functions are escaped too: in a `template` statement whose `template-escape()`
    /// stands before its `template()`, as in syslog-ng.
    pub escape_arguments: bool,
    pub on_error: OnError,
    /// `@version` of the configuration.
    pub version: (u16, u16),
    /// Whether `$(slog)` may stand in it: only where what is printed goes through [`crate::seal`] before it
    /// leaves.
    pub may_seal: bool,
}

impl Default for TemplateOptions {
    fn default() -> Self {
        TemplateOptions {
            ts_format: TsFormat::Bsd,
            frac_digits: 0,
            time_zone: None,
            local_time_zone: None,
            escape: false,
            escape_arguments: false,
            on_error: OnError::DropMessage,
            version: (4, 11),
            may_seal: false,
        }
    }
}

impl TemplateOptions {
    /// The options for a template in the name of a file: dates are in `local-time-zone()`.
    pub fn for_file_names(&self) -> TemplateOptions {
        TemplateOptions { time_zone: self.local_time_zone.clone(), may_seal: false, ..self.clone() }
    }
}
