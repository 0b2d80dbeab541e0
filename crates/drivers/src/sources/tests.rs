//! What holds for every source: no option is read over, and none is asked for that the table does not declare.

use crate::REGISTRY;
use crate::testing::built;

#[test]
fn every_option_of_every_source_is_read() {
    for (component, build) in REGISTRY.sources {
        let address = if component.name.ends_with('6') { "\"::1\"" } else { "127.0.0.1" };
        // Some options mean something only with others: each variant leaves out what another one reads.
        let mut unread: Option<Vec<String>> = None;
        for transport in ["tcp", "udp"] {
            let value = |name: &str| match name {
                "ip" => Some(address.to_owned()),
                "ip-protocol" => Some("4".to_owned()),
                "transport" => Some(transport.to_owned()),
                "keep-alive" => Some("yes".to_owned()),
                _ => None,
            };
            let now = built(component, &value, |s, cx, diags| build(s, cx, diags).is_some()).unread();
            unread = Some(match unread {
                None => now,
                Some(before) => before.into_iter().filter(|name| now.contains(name)).collect(),
            });
        }
        assert_eq!(unread.unwrap_or_default(), Vec::<String>::new(), "{}", component.name);
    }
}

#[test]
fn every_source_of_the_catalogue_can_be_built() {
    let tables = crate::options::ALL.iter().filter(|c| c.context == conf_schema::Context::Source);
    for table in tables {
        assert!(
            REGISTRY.sources.iter().any(|(c, _)| std::ptr::eq(*c, *table)),
            "{} has no builder",
            table.name
        );
    }
}
