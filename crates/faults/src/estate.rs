//! Estates of many programs, from the configurations below examples/estate with addresses of this machine.

pub mod feeds;
pub mod index;
pub mod member;
pub mod stores;

use crate::tls::Generation;
use feeds::{Feeds, Ports};
use member::Member;
use std::path::Path;
use testkit::Lab;

/// One of the examples, in which texts stand for others; each has to be there.
pub fn example(name: &str, changes: &[(&str, &str)]) -> String {
    let path = testkit::root().join("examples/estate").join(name);
    let text = std::fs::read_to_string(&path).expect("an example");
    changes.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{}: `{from}` is not in it", path.display());
        text.replace(from, to)
    })
}

/// The ports of an edge in the place of those that need privileges, and less room on the disk.
pub fn edge(name: &str, changes: &[(&str, &str)]) -> String {
    let mut all = vec![
        ("0.0.0.0", "127.0.0.1"),
        ("port(514) transport(\"udp\")", "port(%udp:udp%) transport(\"udp\")"),
        ("port(514) transport(\"tcp\")", "port(%tcp:tcp%) transport(\"tcp\")"),
        ("port(2514)", "port(%tcp:relp%)"),
        ("200GiB", "2GiB"),
    ];
    all.extend_from_slice(changes);
    example(name, &all)
}

/// An edge that is fed; where it takes TLS too, with the certificates of a generation.
pub fn fed(at: usize, lab: Lab, config: String, certificates: Option<&Generation>) -> (Member, Feeds) {
    let edge = Member::start(format!("edge {at}"), lab, config);
    let tls = certificates.map(|made| (edge.lab.port("tls"), made.client(made)));
    let [relp, tcp, udp] = ["relp", "tcp", "udp"].map(|name| edge.lab.port(name));
    let feeds = Feeds::start(at, Ports { relp, tcp, tls, udp });
    (edge, feeds)
}

/// Where the certificate of an edge is.
pub fn certificate(folder: &Path) -> [String; 2] {
    ["127.0.0.1.key", "127.0.0.1.pem"].map(|name| folder.join(name).display().to_string())
}
