//! The option tables of every driver and of the global options: what the configuration may say, and the manual.

mod app_parser;
pub mod destinations;
pub mod elements;
mod globals;
mod parallelize;
pub mod sources;
mod unavailable;

use conf_schema::{Catalogue, Component};

pub use app_parser::APP_PARSER;
pub use globals::OPTIONS;
pub use parallelize::PARALLELIZE;

/// Every component that has a table: a new one is a line here, and of a parser one in `parsers::ALL`.
pub const ALL: &[&Component] = &[
    &sources::EXAMPLE_MSG_GENERATOR,
    &sources::FILE,
    &sources::INTERNAL,
    &sources::NETWORK,
    &sources::PIPE,
    &sources::PROGRAM,
    &sources::RELP,
    &sources::STDIN,
    &sources::SYSLOG,
    &sources::SYSTEMD_JOURNAL,
    &sources::TCP,
    &sources::TCP6,
    &sources::UDP,
    &sources::UDP6,
    &sources::UDP_BALANCER,
    &sources::UNIX_DGRAM,
    &sources::UNIX_STREAM,
    &sources::WILDCARD_FILE,
    &destinations::FILE,
    &destinations::NETWORK,
    &destinations::PIPE,
    &destinations::PROGRAM,
    &destinations::RELP,
    &destinations::STDOUT,
    &destinations::SYSLOG,
    &destinations::TCP,
    &destinations::TCP6,
    &destinations::UDP,
    &destinations::UDP6,
    &destinations::UNIX_DGRAM,
    &destinations::UNIX_STREAM,
    &destinations::USERTTY,
    &parsers::contextual_data::ADD_CONTEXTUAL_DATA,
    &parsers::csv::CSV_PARSER,
    &parsers::date::DATE_PARSER,
    &parsers::db::DB_PARSER,
    &parsers::geoip2::GEOIP2,
    &parsers::event_format::CEF_PARSER,
    &parsers::event_format::LEEF_PARSER,
    &parsers::group_lines::GROUP_LINES,
    &parsers::grouping_by::GROUPING_BY,
    &parsers::json::JSON_PARSER,
    &parsers::kv::KV_PARSER,
    &parsers::kv::LINUX_AUDIT_PARSER,
    &parsers::map_value_pairs::MAP_VALUE_PAIRS,
    &parsers::metrics_probe::METRICS_PROBE,
    &parsers::regexp::REGEXP_PARSER,
    &parsers::sdata::SDATA_PARSER,
    &parsers::snmptrapd::SNMPTRAPD_PARSER,
    &parsers::syslog::SYSLOG_PARSER,
    &parsers::tags::TAGS_PARSER,
    &parsers::xml::WINDOWS_EVENTLOG_XML_PARSER,
    &parsers::xml::XML,
    &APP_PARSER,
    &OPTIONS,
    &PARALLELIZE,
];

/// Those above, and what of syslog-ng is refused by name.
pub const CATALOGUE: Catalogue = Catalogue { components: ALL, unavailable: unavailable::UNAVAILABLE };

#[cfg(test)]
mod tests;
