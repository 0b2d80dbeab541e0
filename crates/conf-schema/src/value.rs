//! The values an option can have once it is read.

use std::time::Duration;

use conf_syntax::{Arg, FilterExpr, Name};
use diag::Span;
use record::Zone;

use crate::Settings;
use crate::encoding::Encoding;

/// A text with its place.
#[derive(Clone, Debug)]
pub struct Text {
    pub text: String,
    pub span: Span,
}

/// A template as written: its text, or the name of a template statement.
#[derive(Clone, Debug)]
pub struct TemplateText {
    /// `type("text")`
    pub type_hint: Option<Name>,
    pub text: String,
    /// The place of the text, quotes included.
    pub span: Span,
}

/// A file attribute: set it, or leave it as it is (`owner()`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<T> {
    Keep,
    Set(T),
}

/// A port as written. A service name is looked up by the builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port<'a> {
    Number(u16),
    Service(&'a str),
}

/// A yes/no option that knows further words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    No,
    Yes,
    Word(&'static str),
}

/// `key => value`
#[derive(Clone, Debug)]
pub struct Pair {
    pub key: Text,
    pub value: TemplateText,
}

#[derive(Clone, Debug)]
pub enum Value {
    Bool(bool),
    Switch(Switch),
    Int(i64),
    Size(u64),
    Seconds(Duration),
    Ratio(f64),
    Text(Text),
    List(Vec<Text>),
    Template(TemplateText),
    Choice(&'static str),
    Flags(Vec<&'static str>),
    /// A severity or facility.
    Number(u8),
    Zone(Zone),
    Owner(Change<String>),
    Perm(Change<u32>),
    Encoding(Encoding),
    PortNumber(u16),
    PortService(String),
    Filter(FilterExpr),
    Pairs(Vec<Pair>),
    /// One, or as many as were given where the option collects.
    Block(Vec<Settings>),
    Args(Vec<Arg>),
}
