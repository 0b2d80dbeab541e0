//! Facts about a record that are true or not.

/// Facts about a record in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// The message text is known to be valid UTF-8.
    pub const UTF8: Flags = Flags(1);
    /// Came over a unix socket, file or pipe, or is our own.
    pub const LOCAL: Flags = Flags(2);
    /// Parsed as RFC 5424.
    pub const IETF: Flags = Flags(4);
    /// Is one of our own messages.
    pub const INTERNAL: Flags = Flags(8);
    /// A MARK message.
    pub const MARK: Flags = Flags(16);
    /// Was not parsed: flags(no-parse).
    pub const RAW: Flags = Flags(32);
    /// A value named `.SDATA.*` was set or unset, so SDATA must be rebuilt instead of copied.
    pub const SDATA_CHANGED: Flags = Flags(64);
    /// An error of parsing stands in MESSAGE.
    pub const PARSE_ERROR: Flags = Flags(128);
    /// Its source's chain-hostnames() put HOST together: the HOST macro prints the part between `@` and `/`.
    pub const CHAINED: Flags = Flags(256);
    /// A parser made it of other messages and gave it to internal(), from where it comes with
    /// [`Flags::INTERNAL`].
    pub const POSTED: Flags = Flags(512);

    #[inline]
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    #[inline]
    pub fn set(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}
