//! Tags get their numbers in the order in which the configuration names them, as in syslog-ng: `$TAGS` lists
//! them by number. What is named nowhere (`.source.NAME`, tags made from a message) comes behind.

use conf_syntax::{Arg, Call, Config, Visit};

/// Gives numbers to all tags a configuration names.
pub(super) fn number(config: &Config) {
    config.visit(&mut Tags);
}

struct Tags;

impl Visit for Tags {
    fn call(&mut self, call: &Call) {
        let is_one = call.is("set-tag") || call.is("clear-tag");
        if !is_one && !call.is("tags") {
            return;
        }
        let texts = call.args.iter().filter_map(Arg::text).take(if is_one { 1 } else { usize::MAX });
        // Tags made from a message are not known yet.
        for tag in texts.filter(|tag| !tag.is_empty() && !tag.contains('$')) {
            // A full table is reported where the tag is used.
            let _ = record::tag_id(tag);
        }
    }
}
