//! What holds for every destination: no option is read over, and none is asked for that the table does not
//! declare.

use crate::REGISTRY;
use crate::testing::{built, unread};
use conf_schema::sample::LEFT_OUT;
use driver_options::tls_groups::SAMPLE_OF_CLIENT;
use record::Demand;

#[test]
fn every_option_of_every_destination_is_read() {
    for part in REGISTRY.destinations() {
        let component = part.table;
        // They stand in the place of others.
        let value = |name: &str| {
            matches!(name, "json-var" | "proto-var" | "azure-auth-header").then(|| LEFT_OUT.to_owned())
        };
        let settings = built(component, &value, |s, cx, diags| (part.build)(s, cx, diags).is_ok());
        assert_eq!(unread(&settings), Vec::<String>::new(), "{}", component.name);
        assert_eq!(settings.undeclared(), Vec::<String>::new(), "{}", component.name);
    }
}

#[test]
fn every_destination_of_the_catalogue_can_be_built() {
    let tables =
        REGISTRY.catalogue.components.iter().filter(|c| c.context == conf_schema::Context::Destination);
    for table in tables {
        assert!(REGISTRY.destination(table).is_some(), "{} has no builder", table.name);
    }
}

/// A destination that reads more than it prints makes parsers keep everything, for nothing.
#[test]
fn a_fixed_template_reads_nothing() {
    for part in REGISTRY.destinations() {
        let component = part.table;
        // Nobody knows what a class reads; records and notifications have no template.
        if matches!(component.name, "python" | "opentelemetry" | "syslog-ng-otlp" | "snmp") {
            continue;
        }
        let address = if component.name.ends_with('6') { "\"::1\"" } else { "127.0.0.1" };
        for (transport, balanced) in [("tcp", true), ("tls", true), ("udp", false), ("rltp", false)] {
            let value = |name: &str| {
                Some(match name {
                    "host" | "localip" => address.to_owned(),
                    "ip-protocol" => "4".to_owned(),
                    "transport" => transport.to_owned(),
                    "tls" if transport == "tls" => SAMPLE_OF_CLIENT.to_owned(),
                    "tls" | "json-var" | "proto-var" | "azure-auth-header" => LEFT_OUT.to_owned(),
                    "spoof-source" | "keep-alive" => "no".to_owned(),
                    "mark-mode" => "none".to_owned(),
                    "disk-buffer" => "reliable(no) capacity-bytes(10000000) dir(\"/tmp/sample\")".to_owned(),
                    "failover" => format!("servers({address})"),
                    "load-balance" if balanced => format!("servers({address}) key(\"fixed\")"),
                    "load-balance" => LEFT_OUT.to_owned(),
                    "template" => "\"a fixed text\\n\"".to_owned(),
                    "suppress" => "0".to_owned(),
                    // One of them stands for a layout of its own.
                    "flags" => "no-multi-line".to_owned(),
                    _ => return None,
                })
            };
            let takes = |name: &str| component.table().option(name).is_some();
            if !takes("transport") && transport != "tcp" {
                continue;
            }
            let mut demand = Demand::default();
            built(component, &value, |s, cx, diags| {
                let driver = (part.build)(s, cx, diags);
                driver.iter().for_each(|driver| driver.destination.reads(&mut demand));
                driver.is_ok()
            });
            // The header of RFC 5424 and the layout of a terminal are not a template's to fix.
            let layout = component.name.starts_with("syslog") || !takes("template");
            assert!(!demand.everything, "{} {transport}", component.name);
            assert!(layout || demand == Demand::default(), "{} {transport}: {demand:?}", component.name);
        }
    }
}
