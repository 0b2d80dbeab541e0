//! `hdfs()`: files of lines.

use super::{Destination, House, PLAIN, Receiver, Trial, Way};
use crate::hdfs::{Hdfs, MISSING};
use crate::lab::Lab;

pub(super) const ALL: &[Destination] = &[Destination {
    name: "hdfs",
    missing: MISSING,
    start,
    kills: 3,
    once: &[Trial::ServerKilled],
    without: &[
        (Trial::Certificate, "it speaks Hadoop's own protocol, without TLS"),
        (Trial::Login, "without Kerberos a name is believed"),
        (Trial::Bad, "names that no file can have are refused by the program: that is in its own tests"),
        (Trial::Slow, "datanodes are spoken to at the addresses that the namenode says"),
    ],
    ..PLAIN
}];

struct Files(Hdfs);

fn start(lab: &Lab, _: House) -> Option<Box<dyn Receiver>> {
    Some(Box::new(Files(Hdfs::start(lab)?)))
}

impl Receiver for Files {
    fn port(&self) -> u16 {
        self.0.port()
    }

    fn driver(&self, way: &Way<'_>) -> String {
        format!(
            "hdfs(hdfs-uri(\"hdfs://127.0.0.1:{}\") hdfs-file(\"/logs/app.log\") template(\"$MSG\\n\") \
             hdfs-append-enabled(yes) time-reopen(1) {})",
            way.port, way.options
        )
    }

    fn kill(&mut self) {
        self.0.kill();
    }

    fn run(&mut self) {
        self.0.run();
    }

    fn texts(&self) -> Vec<String> {
        // The end of a file that was cut off may be half a line, which stands whole in the next one.
        let mut texts = Vec::new();
        for file in self.0.files("/logs") {
            let bytes = self.0.bytes(&file);
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            texts.extend(String::from_utf8_lossy(&bytes[..whole]).lines().map(str::to_owned));
        }
        texts
    }

    fn mend(&mut self) -> bool {
        false
    }
}
