//! Runs one golden case through a receiver: start, send, stop, and put what stands in `%dir%/out` together.

use super::case::{Case, Transport};
use std::path::{Path, PathBuf};
use testkit::{Collector, Lab, Penstock, Sender, peers, wait_until};

pub enum Receiver {
    Penstock,
    SyslogNg(PathBuf),
}

/// All output files, each under its name.
pub fn run(receiver: &Receiver, case: &Case) -> Result<String, String> {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("out")).map_err(|e| e.to_string())?;
    let collectors: Vec<(Transport, &str, Collector)> = case
        .collect
        .iter()
        .map(|(transport, name)| (*transport, name.as_str(), collector(&lab, *transport, name)))
        .collect();
    match receiver {
        Receiver::Penstock => {
            let mut start = Penstock::configure(&lab, &case.config);
            for (name, value) in &case.env {
                start = start.env(name, value);
            }
            let mut penstock = start.ready();
            send(&lab, case);
            wait_collected(&collectors, case.messages.len());
            let ledger = penstock.wait_settled_input();
            ledger.assert_balanced();
            if ledger.dropped_for("contained") > 0 {
                return Err(penstock.log());
            }
            penstock.stop();
        }
        Receiver::SyslogNg(program) => {
            let mut process = peers::start_syslog_ng(&lab, program, &case.config, &case.env);
            send(&lab, case);
            wait_collected(&collectors, case.messages.len());
            let status = process.terminate();
            if !status.success() {
                return Err(format!("syslog-ng ended with {status}\n{}", process.log()));
            }
        }
    }
    for (transport, name, collector) in &collectors {
        let received = collector.received();
        let bytes = match transport {
            // A datagram has no end of its own.
            Transport::Udp => {
                received.iter().map(|d| [d.as_slice(), b"<end>\n"].concat()).collect::<Vec<_>>().concat()
            }
            _ => received.concat(),
        };
        std::fs::write(lab.path("out").join(name), bytes).map_err(|e| e.to_string())?;
    }
    let mut text = String::new();
    collect(&lab.path("out"), "", &mut text);
    Ok(text.replace(&lab.dir().display().to_string(), "%dir%"))
}

fn collector(lab: &Lab, transport: Transport, name: &str) -> Collector {
    match transport {
        Transport::Tcp | Transport::Octets => Collector::tcp(lab.port(name)),
        Transport::Udp => Collector::udp(lab.port(name)),
        Transport::UnixStream => Collector::unix_stream(&lab.path(name)),
    }
}

fn wait_collected(collectors: &[(Transport, &str, Collector)], messages: usize) {
    for (transport, name, collector) in collectors {
        wait_until(&format!("{messages} messages at {name}"), || match transport {
            Transport::Octets => collector.frames().len() >= messages,
            Transport::Udp => collector.connections() >= messages,
            Transport::Tcp | Transport::UnixStream => collector.lines().len() >= messages,
        });
    }
}

/// Sends the input and waits until all of it has been read.
fn send(lab: &Lab, case: &Case) {
    if let Some(name) = &case.file {
        return write(lab, name, &case.messages);
    }
    let mut sender = match case.transport {
        Transport::Tcp | Transport::Octets => Sender::tcp(lab.port(&case.port)),
        Transport::Udp => Sender::udp(lab.port(&case.port)),
        Transport::UnixStream => Sender::unix_stream(&lab.path(&case.port)),
    };
    for message in &case.messages {
        match case.transport {
            Transport::Tcp | Transport::UnixStream => sender.raw(&[message, &b"\n"[..]].concat()),
            Transport::Octets => sender.octets(message),
            Transport::Udp => sender.raw(message),
        }
    }
    sender.finish();
}

/// Puts the input where the source looks for it and waits until the end of it has come out.
fn write(lab: &Lab, name: &str, messages: &[Vec<u8>]) {
    let path = lab.path(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for the input");
    let lines: Vec<u8> = messages.iter().flat_map(|message| [message, &b"\n"[..]].concat()).collect();
    std::fs::write(&path, lines).expect("the input");
    wait_until("the-end in what came out", || {
        let mut text = String::new();
        collect(&lab.path("out"), "", &mut text);
        text.contains("the-end")
    });
}

fn collect(folder: &Path, prefix: &str, text: &mut String) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    for name in names {
        let path = folder.join(&name);
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), text);
            continue;
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        text.push_str(&format!("==> {prefix}{name}\n{}", printable(&bytes)));
        if !text.ends_with('\n') {
            text.push_str("<no newline>\n");
        }
    }
}

/// Text as it is; control characters and what is no UTF-8 as `<xHH>`.
fn printable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => text.push(c),
                c if c.is_control() || c == '\u{feff}' => {
                    c.to_string().bytes().for_each(|b| text.push_str(&format!("<x{b:02x}>")));
                }
                c => text.push(c),
            }
        }
        chunk.invalid().iter().for_each(|b| text.push_str(&format!("<x{b:02x}>")));
    }
    text
}
