//! Queue files of syslog-ng: opened, shown as lines, and made messages of our own again.

use diag::Fault;
use record::{Batch, Civil, Context, Peer, Record, Span, Stamp};
use sandbox::Access;
use std::fs::File;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use template::{Identity, Msg, RenderContext, Template};
use wire::queue_file::{self, Found, Header, Message, ReadAt};

/// An open file.
pub struct Foreign {
    file: Source,
    pub header: Header,
    pub length: u64,
}

struct Source(File);

impl ReadAt for Source {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> usize {
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.0.read_at(rest, at.saturating_add(filled as u64)) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        filled
    }
}

impl Foreign {
    pub fn open(path: &Path) -> Result<Foreign, Fault> {
        let place = path.display().to_string();
        let wrong = |error: std::io::Error| Fault::of_file(&error, error.to_string()).at(&place);
        let opened = regular::open(path).map_err(|error| sandbox::explained(error, path, Access::Read));
        let file = opened.map_err(wrong)?;
        let length = file.metadata().map_err(wrong)?.len();
        let file = Source(file);
        let mut page = [0; 4096];
        let count = ReadAt::read_at(&file, &mut page, 0);
        let header = Header::parse(page.get(..count).unwrap_or_default())
            .map_err(|error| Fault::misconfigured(error.to_string()).at(&place))?;
        Ok(Foreign { file, header, length })
    }

    /// Gives every message to `each`, which says whether to go on.
    pub fn messages(&self, each: impl FnMut(&Message<'_>) -> bool) -> Found {
        queue_file::messages(&self.file, self.length, &self.header, each)
    }
}

/// A time as ISO 8601 has it, in the zone of the message.
pub fn iso(stamp: &Stamp) -> String {
    let t = Civil::from_seconds(stamp.secs.saturating_add(stamp.offset.into()));
    let (sign, zone) =
        if stamp.offset < 0 { ('-', stamp.offset.unsigned_abs()) } else { ('+', stamp.offset as u32) };
    let (hours, minutes) = (zone / 3600, zone / 60 % 60);
    let time = format!("{:02}:{:02}:{:02}.{:06}", t.hour, t.min, t.sec, stamp.usec);
    format!("{:04}-{:02}-{:02}T{time}{sign}{hours:02}:{minutes:02}", t.year, t.month, t.day)
}

/// A message as a line: time, host, header, text.
pub fn line(message: &Message<'_>) -> Vec<u8> {
    let mut out = format!("<{}>{} ", message.pri, iso(&message.stamp)).into_bytes();
    out.extend_from_slice(message.value("HOST").unwrap_or_default());
    out.push(b' ');
    let text = message.value("MESSAGE").unwrap_or_default();
    match message.value("LEGACY_MSGHDR") {
        Some(header) => out.extend_from_slice(header),
        None => {
            if let Some(program) = message.value("PROGRAM") {
                out.extend_from_slice(program);
                if let Some(pid) = message.value("PID") {
                    out.extend_from_slice(&[b"[", pid, b"]"].concat());
                }
                out.extend_from_slice(b": ");
            }
        }
    }
    out.extend_from_slice(text);
    out
}

/// An empty batch for messages of such a file.
pub fn batch() -> Batch {
    Batch::new(Vec::new(), Arc::new(Context::local("", "", "")), Stamp::now(0))
}

/// Adds the message to the batch, with all that it had.
pub fn add(batch: &mut Batch, message: &Message<'_>) {
    let index = batch.records.len();
    let mut record = Record::new(Span::EMPTY);
    record.pri = message.pri;
    record.origin = index as u32;
    record.stamp = message.stamp;
    record.context = context(batch, message);
    batch.records.push(record);
    for (name, value, kind) in &message.values {
        let Some(id) = batch.names.id(b"", name) else { continue };
        batch.set(index, id, value, *kind);
    }
    for tag in &message.tags {
        if let Some(tag) = batch.tag(tag) {
            batch.set_tag(index, tag);
        }
    }
}

/// A template that messages are printed with.
pub struct Printing {
    template: Template,
    cx: RenderContext,
    batch: Batch,
    text: Vec<u8>,
}

impl Printing {
    pub fn new(template: Template) -> Printing {
        let cx = RenderContext::new(Identity::new("localhost"));
        Printing { template, cx, batch: batch(), text: Vec::new() }
    }

    pub fn print(&mut self, message: &Message<'_>) -> &[u8] {
        let context = self.batch.contexts.first().cloned();
        self.batch.reset();
        self.batch.contexts.extend(context);
        self.batch.received = message.received;
        add(&mut self.batch, message);
        self.text.clear();
        if let Some(record) = self.batch.records.first() {
            self.template.render(Msg { batch: &self.batch, record }, &mut self.cx, &mut self.text);
        }
        &self.text
    }
}

/// The context with the address of its sender.
fn context(batch: &mut Batch, message: &Message<'_>) -> u16 {
    let Some(address) = message.peer else { return 0 };
    let remote = SocketAddr::new(address, 0);
    let same =
        |context: &Arc<Context>| matches!(context.peer, Peer::Inet { remote: known, .. } if known == remote);
    let at = batch.contexts.iter().position(same).unwrap_or_else(|| {
        let local = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0);
        let peer = Peer::Inet { remote, local, proxy: None };
        batch.contexts.push(Arc::new(Context { peer, ..Context::local("", "", "") }));
        batch.contexts.len() - 1
    });
    u16::try_from(at).unwrap_or(0)
}

#[cfg(test)]
mod tests;
