//! How a pattern is to be read: `type()` and `flags()` of the matcher options.

use crate::error::PatternError;

/// `type()`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    #[default]
    Pcre,
    /// The whole value, or its beginning (`prefix`) or a part (`substring`).
    String,
    /// `*` and `?`, against the whole value.
    Glob,
}

/// What `type()` takes.
pub const KIND_NAMES: [&str; 3] = ["pcre", "string", "glob"];

/// What `flags()` takes.
pub const FLAG_NAMES: [&str; 11] = [
    "ignore-case",
    "icase",
    "global",
    "store-matches",
    "substring",
    "prefix",
    "utf8",
    "unicode",
    "newline",
    "disable-jit",
    "dupnames",
];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PatternOptions {
    pub kind: Kind,
    /// ASCII letters, or all letters with `utf8`.
    pub ignore_case: bool,
    /// `subst` replaces every match.
    pub global: bool,
    /// `$0`..`$255` and named groups become values.
    pub store_matches: bool,
    pub substring: bool,
    pub prefix: bool,
    /// The text is characters, not bytes; bytes that are no UTF-8 match nothing, not even `.`.
    pub utf8: bool,
    /// CR, LF and CRLF all end a line for `^`, `$` and `.`.
    pub newline: bool,
    pub disable_jit: bool,
    pub dupnames: bool,
    /// [`crate::Pattern::captures`] will be called: make its engine when the pattern is compiled.
    pub captures: bool,
}

impl PatternOptions {
    /// Sets `type(name)`.
    pub fn set_kind(&mut self, name: &str) -> Result<(), PatternError> {
        self.kind = match name {
            // syslog-ng, too, reads the patterns of its old posix type with PCRE.
            "pcre" | "posix" => Kind::Pcre,
            "string" => Kind::String,
            "glob" => Kind::Glob,
            _ => {
                let text = format!("unknown type of pattern `{name}`; there are pcre, string and glob");
                return Err(PatternError::new("X0104", text));
            }
        };
        Ok(())
    }

    /// Sets one of `flags(...)`; `_` and `-` are the same.
    pub fn set_flag(&mut self, name: &str) -> Result<(), PatternError> {
        match name.replace('_', "-").as_str() {
            "ignore-case" | "icase" => self.ignore_case = true,
            "global" => self.global = true,
            "store-matches" => self.store_matches = true,
            "substring" => self.substring = true,
            "prefix" => self.prefix = true,
            "utf8" | "unicode" => self.utf8 = true,
            "newline" => self.newline = true,
            "disable-jit" => self.disable_jit = true,
            "dupnames" => self.dupnames = true,
            _ => {
                let known = FLAG_NAMES.join(", ");
                return Err(PatternError::new("X0105", format!("unknown flag `{name}`; there are {known}")));
            }
        }
        Ok(())
    }

    /// A flag that does nothing with this type, for a warning.
    pub fn misplaced_flag(&self) -> Option<&'static str> {
        let pcre = self.kind == Kind::Pcre;
        let string = self.kind == Kind::String;
        let flags = [
            (self.substring && !string, "substring"),
            (self.prefix && !string, "prefix"),
            (self.newline && !pcre, "newline"),
            (self.disable_jit && !pcre, "disable-jit"),
            (self.dupnames && !pcre, "dupnames"),
        ];
        flags.iter().find(|(on, _)| *on).map(|(_, name)| *name)
    }
}
