//! What a configuration of a [`super::World`] says, to be changed piece by piece.

use super::ASKING;
use crate::trial::HEAD;

/// What `network()` prints without a template.
const LINE: &str = "<$PRI>$DATE $HOST $MSGHDR$MSG";

/// Where a destination keeps what waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    InMemory,
    OnDisk { reliable: bool, capacity_bytes: u64 },
}

/// How a destination speaks to its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaks {
    /// `network()`.
    Lines,
    /// `http()`: each batch is answered.
    Requests,
}

/// A destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Out {
    pub name: String,
    pub there: bool,
    pub speaks: Speaks,
    pub keeps: Keeps,
    /// Which folder dir() names, and which name persist-name(): 0 is none.
    pub dir: u64,
    pub persist: u64,
    /// Tenths of a second.
    pub time_reopen: u64,
    pub log_fifo_size: u64,
    /// More options.
    pub more: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    pub outs: Vec<Out>,
    /// Whether the second RELP source is there.
    pub second: bool,
    pub reads_file: bool,
    pub max_connections: u64,
}

impl Shape {
    pub fn of(keeps: &[Keeps]) -> Shape {
        let out = |(number, keeps): (usize, &Keeps)| Out {
            name: first_name(number),
            there: true,
            speaks: Speaks::Lines,
            keeps: *keeps,
            dir: 0,
            persist: 0,
            time_reopen: 1,
            log_fifo_size: 10_000,
            more: String::new(),
        };
        let outs = keeps.iter().enumerate().map(out).collect();
        Shape { outs, second: true, reads_file: true, max_connections: 10 }
    }

    /// With everything there.
    pub fn whole(&self) -> Shape {
        let mut whole = Shape { second: true, reads_file: true, ..self.clone() };
        whole.outs.iter_mut().for_each(|out| out.there = true);
        whole
    }

    pub fn config(&self) -> String {
        let mut text = HEAD.to_owned();
        let mut path = String::from("log {");
        for lane in (0..ASKING).filter(|lane| *lane == 0 || self.second) {
            let max = self.max_connections;
            text.push_str(&format!(
                "source s{lane} {{ relp(ip(127.0.0.1) port(%tcp:in{lane}%) max-connections({max})); }};\n"
            ));
            path.push_str(&format!(" source(s{lane});"));
        }
        if self.reads_file {
            text.push_str("source f { file(\"%path:lines%\"); };\n");
            path.push_str(" source(f);");
        }
        for (number, out) in self.outs.iter().enumerate().filter(|(_, out)| out.there) {
            let Out { name, time_reopen, log_fifo_size, more, .. } = out;
            let buffer = match out.keeps {
                Keeps::InMemory => String::new(),
                Keeps::OnDisk { reliable, capacity_bytes } => {
                    let reliable = if reliable { "yes" } else { "no" };
                    let dir = match out.dir {
                        0 => String::new(),
                        dir => format!(" dir(\"%dir%/queues-{dir}\")"),
                    };
                    format!(" disk-buffer(reliable({reliable}) capacity-bytes({capacity_bytes}){dir})")
                }
            };
            let persist = match out.persist {
                0 => String::new(),
                persist => format!(" persist-name(\"out-{number}-{persist}\")"),
            };
            let driver = match out.speaks {
                Speaks::Lines => format!("network(\"127.0.0.1\" port(%port:out{number}%)"),
                Speaks::Requests => {
                    format!("http(url(\"http://127.0.0.1:%port:out{number}%/\") body(\"{LINE}\")")
                }
            };
            text.push_str(&format!(
                "destination {name} {{ {driver} time-reopen(0.{time_reopen}) \
                 log-fifo-size({log_fifo_size}){more}{persist}{buffer}); }};\n"
            ));
            path.push_str(&format!(" destination({name});"));
        }
        format!("{text}{path} flags(flow-control); }};\n")
    }

    /// What is different in another one, in words.
    pub fn difference(&self, other: &Shape) -> String {
        let mut words = Vec::new();
        for (a, b) in self.outs.iter().zip(&other.outs).filter(|(a, b)| a != b) {
            words.push(match (a.there, b.there) {
                (true, false) => format!("{} removed", a.name),
                (false, true) => format!("{} added", b.name),
                _ if a.name != b.name => format!("{} becomes {}", a.name, b.name),
                _ => format!(
                    "{}: {:?} dir {} persist {} reopen {} fifo {}{}",
                    b.name, b.keeps, b.dir, b.persist, b.time_reopen, b.log_fifo_size, b.more
                ),
            });
        }
        if self.second != other.second {
            words.push(format!("second source {}", if other.second { "added" } else { "removed" }));
        }
        if self.reads_file != other.reads_file {
            words.push(format!("file {}", if other.reads_file { "added" } else { "removed" }));
        }
        if self.max_connections != other.max_connections {
            words.push(format!("max-connections {}", other.max_connections));
        }
        if words.is_empty() { "nothing changes".to_owned() } else { words.join(", ") }
    }
}

fn first_name(number: usize) -> String {
    format!("d{number}")
}

/// Of a destination by any of its names: letters follow the number.
pub fn number_of(name: &str) -> Option<usize> {
    name.strip_prefix('d')?.trim_end_matches(|c: char| c.is_ascii_lowercase()).parse().ok()
}
