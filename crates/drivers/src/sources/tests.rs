//! What holds for every source: no option is read over, and none is asked for that the table does not
//! declare.

use crate::REGISTRY;
use crate::testing::{built, unread};

#[test]
fn every_option_of_every_source_is_read() {
    for part in REGISTRY.sources() {
        let component = part.table;
        let settings = built(component, &|_| None, |s, cx, diags| (part.build)(s, cx, diags).is_ok());
        assert_eq!(unread(&settings), Vec::<String>::new(), "{}", component.name);
    }
}

#[test]
fn every_source_of_the_catalogue_can_be_built() {
    let tables = REGISTRY.catalogue.components.iter().filter(|c| c.context == conf_schema::Context::Source);
    for table in tables {
        assert!(REGISTRY.source(table).is_some(), "{} has no builder", table.name);
    }
}
