//! What holds for every source: no option is read over, and none is asked for that the table does not declare.

use crate::REGISTRY;
use crate::testing::{built, unread};

/// Good values of every option of tls().
pub const TLS: &str = "key-file(\"/x\") cert-file(\"/x\") ca-file(\"/x\") ca-dir(\"/x\") crl-dir(\"/x\") \
     peer-verify(no) trusted-keys(\"SHA1:00:11:22:33:44:55:66:77:88:99:00:11:22:33:44:55:66:77:88:99\") \
     trusted-dn(\"*\") ssl-options(no-sslv2) ssl-version(tlsv1-2) cipher-suite(\"TLS_AES_128_GCM_SHA256\") \
     keylog-file(\"/x/keys\")";

#[test]
fn every_option_of_every_source_is_read() {
    for part in REGISTRY.sources() {
        let component = part.table;
        let address = if component.name.ends_with('6') { "\"::1\"" } else { "127.0.0.1" };
        let value = |name: &str| match name {
            "ip" => Some(address.to_owned()),
            "ip-protocol" => Some("4".to_owned()),
            "transport" => Some("tls".to_owned()),
            "tls" => Some(TLS.to_owned()),
            "keep-alive" => Some("yes".to_owned()),
            "namespace" => Some("\"\"".to_owned()),
            _ => None,
        };
        let settings = built(component, &value, |s, cx, diags| (part.build)(s, cx, diags).is_some());
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
