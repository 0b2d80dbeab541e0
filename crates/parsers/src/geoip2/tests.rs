//! Against a small database written here, in the format MaxMind documents.

use crate::testing::{build, check, check_codes};

enum Data {
    Text(&'static str),
    Double(f64),
    Unsigned(u64),
    /// Of 16 and 32 bits.
    Short(u16),
    Long(u32),
    Signed(i32),
    Bool(bool),
    Bytes(&'static [u8]),
    Map(Vec<(&'static str, Data)>),
    List(Vec<Data>),
}

/// Type and size of what comes next.
fn control(kind: u8, size: usize, out: &mut Vec<u8>) {
    let size = u8::try_from(size).ok().filter(|s| *s < 29).expect("small");
    match kind {
        0..8 => out.push(kind << 5 | size),
        _ => out.extend([size, kind - 7]),
    }
}

fn put(data: &Data, out: &mut Vec<u8>) {
    match data {
        Data::Text(text) => {
            control(2, text.len(), out);
            out.extend(text.bytes());
        }
        Data::Double(n) => {
            control(3, 8, out);
            out.extend(n.to_be_bytes());
        }
        Data::Bytes(bytes) => {
            control(4, bytes.len(), out);
            out.extend(*bytes);
        }
        Data::Unsigned(n) => {
            control(9, 8, out);
            out.extend(n.to_be_bytes());
        }
        Data::Short(n) => {
            control(5, 2, out);
            out.extend(n.to_be_bytes());
        }
        Data::Long(n) => {
            control(6, 4, out);
            out.extend(n.to_be_bytes());
        }
        Data::Signed(n) => {
            control(8, 4, out);
            out.extend(n.to_be_bytes());
        }
        Data::Bool(b) => control(14, usize::from(*b), out),
        Data::Map(members) => {
            control(7, members.len(), out);
            for (key, value) in members {
                put(&Data::Text(key), out);
                put(value, out);
            }
        }
        Data::List(items) => {
            control(11, items.len(), out);
            items.iter().for_each(|item| put(item, out));
        }
    }
}

/// A database of IPv4 networks, with records of 24 bits.
fn database_of(networks: &[([u8; 4], u32, Data)]) -> Vec<u8> {
    #[derive(Clone, Copy)]
    enum Next {
        Nothing,
        Node(usize),
        Data(usize),
    }
    let mut nodes = vec![[Next::Nothing; 2]];
    let mut data = Vec::new();
    for (address, bits, value) in networks {
        let (address, offset) = (u32::from_be_bytes(*address), data.len());
        put(value, &mut data);
        let mut node = 0;
        for bit in 0..*bits {
            let side = (address >> (31 - bit) & 1) as usize;
            node = match nodes[node][side] {
                _ if bit + 1 == *bits => {
                    nodes[node][side] = Next::Data(offset);
                    0
                }
                Next::Node(next) => next,
                _ => {
                    nodes.push([Next::Nothing; 2]);
                    nodes[node][side] = Next::Node(nodes.len() - 1);
                    nodes.len() - 1
                }
            };
        }
    }
    let mut out = Vec::new();
    for side in nodes.iter().flatten() {
        let record = match side {
            Next::Nothing => nodes.len(),
            Next::Node(node) => *node,
            Next::Data(offset) => nodes.len() + 16 + offset,
        };
        out.extend(&(record as u32).to_be_bytes()[1..]);
    }
    out.extend([0; 16]);
    out.extend(data);
    out.extend(b"\xab\xcd\xefMaxMind.com");
    put(
        &Data::Map(vec![
            ("binary_format_major_version", Data::Short(2)),
            ("binary_format_minor_version", Data::Short(0)),
            ("build_epoch", Data::Unsigned(1_700_000_000)),
            ("database_type", Data::Text("Test")),
            ("description", Data::Map(vec![("en", Data::Text("written by a test"))])),
            ("ip_version", Data::Short(4)),
            ("languages", Data::List(vec![Data::Text("en")])),
            ("node_count", Data::Long(nodes.len() as u32)),
            ("record_size", Data::Short(24)),
        ]),
        &mut out,
    );
    out
}

pub fn database() -> Vec<u8> {
    use Data::*;
    let names = |name| Map(vec![("en", Text(name))]);
    let hungary = Map(vec![
        (
            "country",
            Map(vec![
                ("iso_code", Text("HU")),
                ("names", names("Hungary")),
                ("is_in_european_union", Bool(true)),
                ("geoname_id", Long(719_819)),
            ]),
        ),
        (
            "location",
            Map(vec![("latitude", Double(47.5)), ("longitude", Double(-19.25)), ("offset", Signed(-7))]),
        ),
        ("subdivisions", List(vec![Map(vec![("iso_code", Text("BU"))]), Map(vec![("iso_code", Text("X"))])])),
        ("empty", Map(vec![])),
    ]);
    let odd = Map(vec![
        ("bytes", Bytes(b"ab")),
        ("big", Unsigned(u64::MAX)),
        ("list", List(vec![Text("a"), Text("b")])),
    ]);
    database_of(&[
        ([10, 1, 0, 0], 16, hungary),
        ([192, 168, 1, 0], 24, Map(vec![("country", Map(vec![("iso_code", Text("GB"))]))])),
        ([192, 168, 2, 1], 32, odd),
    ])
}

/// `WRITE_GEOIP2=FILE` writes the database of the golden cases.
#[test]
fn the_database_is_read_back() {
    let bytes = database();
    if let Some(path) = std::env::var_os("WRITE_GEOIP2") {
        std::fs::write(path, &bytes).expect("written");
    }
    assert_eq!(maxminddb::Reader::from_source(bytes).expect("a database").metadata().database_type, "Test");
}

#[test]
fn addresses_are_looked_up() {
    let text = "geoip2('$MESSAGE' prefix('g') database('t.mmdb'))";
    check(
        text,
        "10.1.2.3",
        "g.country.geoname_id=int:719819|g.country.is_in_european_union=boolean:true|g.country.iso_code=HU|\
         g.country.names.en=Hungary|g.location.latitude=double:47.500000|g.location.longitude=double:-19.250000|\
         g.location.offset=int:-7|g.subdivisions.0.iso_code=BU|g.subdivisions.1.iso_code=X",
    );
    check(text, "192.168.1.255", "g.country.iso_code=GB");
    check(text, "192.168.2.1", "g.big=18446744073709551615|g.list.0=a|g.list.1=b");
    for nothing in ["192.168.2.2", "not an address", "", "::1", "10.1.2.3 ", "::ffff:10.1.2.3"] {
        check(text, nothing, "");
    }
    check("geoip2(template('$MESSAGE') prefix('') database('t.mmdb'))", "192.168.1.1", "country.iso_code=GB");
}

#[test]
fn what_is_wrong_is_said() {
    check_codes("geoip2('$HOST' database('nosuch.db'))", &["A0107"]);
    check_codes("geoip2('$HOST' database('hosts.csv'))", &["A0107"]);
    check_codes("geoip2('$(' database('t.mmdb'))", &["A0101"]);
}

/// A broken database gives fewer values, never a fault.
#[test]
fn broken_databases() {
    let good = database();
    let parser = |bytes: Vec<u8>| maxminddb::Reader::from_source(bytes);
    for at in 0..good.len() {
        for change in [0xff, 0x80, 0x20, 0x01] {
            let mut bytes = good.clone();
            bytes[at] ^= change;
            let Ok(reader) = parser(bytes) else { continue };
            for address in [[10, 1, 2, 3], [192, 168, 1, 1], [192, 168, 2, 1]] {
                let Ok(result) = reader.lookup(std::net::Ipv4Addr::from(address).into()) else { continue };
                let mut found = crate::found::Found::default();
                if let Ok(Some(leaf)) = result.decode::<super::Leaf<'_>>() {
                    leaf.keep_all(&mut Vec::new(), &mut found);
                }
            }
        }
    }
    assert!(build("geoip2('$HOST' database('t.mmdb'))").0.is_some());
}
