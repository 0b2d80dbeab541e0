//! The flags of sources and of syslog-parser() that say how to parse.

/// One field for each flag, named as in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseFlags {
    pub no_parse: bool,
    pub syslog_protocol: bool,
    pub assume_utf8: bool,
    pub validate_utf8: bool,
    pub sanitize_utf8: bool,
    pub no_multi_line: bool,
    pub store_legacy_msghdr: bool,
    pub store_raw_message: bool,
    pub expect_hostname: bool,
    pub guess_timezone: bool,
    pub check_hostname: bool,
    pub check_program: bool,
    pub no_header: bool,
    pub no_rfc3164_fallback: bool,
    pub piggyback_errors: bool,
    pub kernel: bool,
}

impl Default for ParseFlags {
    fn default() -> ParseFlags {
        ParseFlags {
            no_parse: false,
            syslog_protocol: false,
            assume_utf8: false,
            validate_utf8: false,
            sanitize_utf8: false,
            no_multi_line: false,
            store_legacy_msghdr: true,
            store_raw_message: false,
            expect_hostname: true,
            guess_timezone: false,
            check_hostname: false,
            check_program: false,
            no_header: false,
            no_rfc3164_fallback: false,
            piggyback_errors: true,
            kernel: false,
        }
    }
}

impl ParseFlags {
    /// The names [`ParseFlags::apply`] knows, as they are written in the configuration.
    pub const NAMES: [&'static str; 19] = [
        "no-parse",
        "syslog-protocol",
        "assume-utf8",
        "validate-utf8",
        "sanitize-utf8",
        "no-multi-line",
        "store-legacy-msghdr",
        "dont-store-legacy-msghdr",
        "store-raw-message",
        "expect-hostname",
        "no-hostname",
        "guess-timezone",
        "check-hostname",
        "check-program",
        "no-header",
        "no-rfc3164-fallback",
        "piggyback-errors",
        "no-piggyback-errors",
        "kernel",
    ];

    /// Sets the flag of this name; `-` and `_` mean the same. `false` when it is none of these: other flags
    /// belong to the reader.
    pub fn apply(&mut self, name: &str) -> bool {
        let name = name.replace('_', "-");
        match name.as_str() {
            "no-parse" => self.no_parse = true,
            "syslog-protocol" => self.syslog_protocol = true,
            "assume-utf8" => self.assume_utf8 = true,
            "validate-utf8" => self.validate_utf8 = true,
            "sanitize-utf8" => self.sanitize_utf8 = true,
            "no-multi-line" => self.no_multi_line = true,
            "store-legacy-msghdr" => self.store_legacy_msghdr = true,
            "dont-store-legacy-msghdr" => self.store_legacy_msghdr = false,
            "store-raw-message" => self.store_raw_message = true,
            "expect-hostname" => self.expect_hostname = true,
            "no-hostname" => self.expect_hostname = false,
            "guess-timezone" => self.guess_timezone = true,
            "check-hostname" => self.check_hostname = true,
            "check-program" => self.check_program = true,
            "no-header" => self.no_header = true,
            "no-rfc3164-fallback" => self.no_rfc3164_fallback = true,
            "piggyback-errors" => self.piggyback_errors = true,
            "no-piggyback-errors" => self.piggyback_errors = false,
            "kernel" => self.kernel = true,
            _ => return false,
        }
        true
    }
}
