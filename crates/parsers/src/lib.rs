//! Parsers: values taken out of a text of the message, `kv-parser(prefix(".kv."))`.
//!
//! A parser is one file with its table of options, its builder and its implementation, and a line in [`ALL`].
//! It works on a selection of a batch's records and leaves in it those it could parse. What nobody reads is
//! not stored: [`Parse::narrowed`] makes the parser for a program whose demand is known. Values are spans of
//! the text they were found in wherever they can be.

mod build;
pub mod contextual_data;
pub mod correlation;
pub mod csv;
pub mod date;
pub mod db;
pub mod event_format;
mod found;
pub mod geoip2;
pub mod group_lines;
pub mod grouping_by;
mod input;
pub mod json;
pub mod kubernetes;
pub mod kv;
mod learned;
pub mod map_value_pairs;
mod marks;
pub mod metrics_probe;
mod names;
pub mod opentelemetry;
mod options;
mod parse;
#[cfg(feature = "python")]
pub mod python;
pub mod regexp;
pub mod scanners;
pub mod sdata;
pub mod snmptrapd;
pub mod syslog;
pub mod tags;
mod tree;
pub mod value_pairs;
pub mod watched;
pub mod xml;

#[cfg(test)]
mod growth;
#[cfg(test)]
mod testing;

pub use build::{Build, BuildParser};
pub use learned::say_left_out;
pub use options::ON_ERROR;
pub use parse::{Gate, Parse, Writes};

use conf_schema::Component;

/// Every parser: a new one is its file and a line here.
pub const ALL: &[(&Component, BuildParser)] = &[
    (&contextual_data::ADD_CONTEXTUAL_DATA, contextual_data::build),
    (&csv::CSV_PARSER, csv::build),
    (&date::DATE_PARSER, date::build),
    (&db::DB_PARSER, db::build),
    (&event_format::CEF_PARSER, event_format::build_cef),
    (&event_format::LEEF_PARSER, event_format::build_leef),
    (&group_lines::GROUP_LINES, group_lines::build),
    (&grouping_by::GROUPING_BY, grouping_by::build),
    (&geoip2::GEOIP2, geoip2::build),
    (&json::JSON_PARSER, json::build),
    (&kubernetes::KUBERNETES_PODS, kubernetes::build),
    (&kv::KV_PARSER, kv::build),
    (&kv::LINUX_AUDIT_PARSER, kv::build_audit),
    (&map_value_pairs::MAP_VALUE_PAIRS, map_value_pairs::build),
    (&opentelemetry::OPENTELEMETRY, opentelemetry::build),
    (&metrics_probe::METRICS_PROBE, metrics_probe::build),
    #[cfg(feature = "python")]
    (&python::PYTHON, python::build),
    (&regexp::REGEXP_PARSER, regexp::build),
    (&sdata::SDATA_PARSER, sdata::build),
    (&snmptrapd::SNMPTRAPD_PARSER, snmptrapd::build),
    (&syslog::SYSLOG_PARSER, syslog::build),
    (&tags::TAGS_PARSER, tags::build),
    (&xml::WINDOWS_EVENTLOG_XML_PARSER, xml::build_windows),
    (&xml::XML, xml::build),
];

/// Stable codes of this crate: (code, title, what it means and what to do).
pub const CODES: &[(&str, &str, &str)] = &[
    ("A0101", "wrong template in a parser", "The template that gives the parser its input does not compile."),
    (
        "A0102",
        "wrong value of a parser's option",
        "The option takes another form. The message says which; the manual page of the parser has an example.",
    ),
    ("A0103", "too many names", "The table of names is full."),
    (
        "A0104",
        "wrong pattern in a parser",
        "The pattern of regexp-parser() is not valid, see the X01xx codes.",
    ),
    (
        "A0105",
        "a file of add-contextual-data() cannot be used",
        "The file of database() or of selector(filters()) could not be read, a line of the database is not `selector,name,value`, or what \
         should be a filter is none. The message names the file.",
    ),
    (
        "A0107",
        "a database of addresses cannot be read",
        "The file of geoip2() could not be read, or is not in MaxMind's format.",
    ),
    (
        "A0109",
        "an API server of Kubernetes cannot be asked",
        "An option of kubernetes-pods() means nothing, or a file that it names cannot be read. The message says which.",
    ),
    (
        "A0108",
        "a class of Python cannot be used",
        "The module could not be imported, the class is not in it or lacks a method, or a `python` block raised. The message is Python's \
         traceback.",
    ),
    (
        "A0106",
        "a value that cannot be set",
        "Macros that are computed from the message cannot be set. Use another name or a prefix().",
    ),
];
