//! `disk-buffer()` of any destination: what the block says, and the queues of its outlets.

use super::writing;
use crate::writer::Writer;
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Fault, Reported};
use engine::driver::BuildContext;
use engine::{DiskBuffer, Outlet, QueueLimits, Shared};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Less is raised to this, as in syslog-ng.
const CAPACITY_MIN: u64 = 1 << 20;
/// What the log writes to at a time.
const SEGMENT_BYTES: u64 = 64 << 20;

/// `disk-buffer()`, where it is given.
pub fn read(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<Option<DiskBuffer>, Reported> {
    let global = cx.globals.block("disk-buffer").and_then(|global| global.ratio("truncate-size-ratio"));
    let Some(block) = s.block("disk-buffer") else { return Ok(None) };
    let at = s.span("disk-buffer").ok_or(Reported)?;
    let reliable = block.bool("reliable").unwrap_or(false);
    let reserve_bytes = block.size("flow-control-window-bytes").unwrap_or(0);
    let overflow = block.int("flow-control-window-size");
    for (option, works) in [("flow-control-window-bytes", reliable), ("flow-control-window-size", !reliable)]
    {
        if block.is_set(option) && !works {
            let (given, wanted) = if reliable { ("yes", "no") } else { ("no", "yes") };
            let option = written(block, option, cx);
            let text = format!("{option}() has no effect with reliable({given})");
            // Generators write both: nobody is warned of what another program has made.
            let finding = Diagnostic::remark("D0140", text, block.span(option).unwrap_or(at));
            diags.push(finding.help(format!("it belongs to reliable({wanted}): leave it out")));
        }
    }
    let memory = block.int("front-cache-size");
    let dir = block.path("dir").map(Into::into);
    let ratio = block.ratio("truncate-size-ratio").or(global);
    let Some(capacity) = block.size("capacity-bytes") else {
        let finding = Diagnostic::error("D0140", "disk-buffer() does not say how much may wait on disk", at);
        diags.push(finding.help("add `capacity-bytes(1GiB)`"));
        return Err(Reported);
    };
    if capacity < CAPACITY_MIN {
        let text =
            format!("{}() is raised to 1 MiB, the least there is", written(block, "capacity-bytes", cx));
        diags.push(Diagnostic::warning("D0140", text, block.span("capacity-bytes").unwrap_or(at)));
    }
    let capacity_bytes = capacity.max(CAPACITY_MIN);
    let fifo = writing::limits(s).messages_max;
    Ok(Some(DiskBuffer {
        key: String::new(),
        dir,
        reliable,
        capacity_bytes,
        memory_messages: memory.and_then(|n| usize::try_from(n).ok()),
        overflow_messages: overflow.and_then(|n| usize::try_from(n).ok()).unwrap_or(fifo),
        reserve_bytes: if reliable { reserve_bytes } else { 0 },
        write_max: 0,
        free_segments: ratio.map(|ratio| (capacity_bytes as f64 * ratio) as usize / SEGMENT_BYTES as usize),
    }))
}

/// An option under the name the configuration has for it: many have an older one.
fn written<'a>(block: &Settings, option: &'a str, cx: &BuildContext<'a>) -> &'a str {
    let text = block.span(option).map(|span| cx.sources.text(span)).unwrap_or_default();
    let name = text.split('(').next().unwrap_or_default().trim();
    if name.is_empty() { option } else { name }
}

/// The same with the key of the destination, as its outlets need it. Queues of messages in another envelope
/// are others.
pub fn of(writer: &Writer) -> Option<Arc<DiskBuffer>> {
    writer.disk_buffer.as_ref().map(|wish| named(writer, wish))
}

/// What a destination without `disk-buffer()` has on disk all the same: what is left at the end of the
/// program.
pub fn refuge(writer: &Writer, limits: QueueLimits) -> Arc<DiskBuffer> {
    let wish = DiskBuffer {
        key: String::new(),
        dir: None,
        reliable: false,
        // What waits in memory is bounded, and all of it is to find room.
        capacity_bytes: DiskBuffer::BOUNDLESS,
        memory_messages: None,
        overflow_messages: limits.messages_max,
        reserve_bytes: 0,
        write_max: 0,
        free_segments: None,
    };
    named(writer, &wish)
}

fn named(writer: &Writer, wish: &DiskBuffer) -> Arc<DiskBuffer> {
    let form = match writer.is_bare() {
        true => String::new(),
        false => format!(" ({})", writer.form().name),
    };
    let key = format!("{}{form}", writer.key.as_deref().unwrap_or("destination"));
    Arc::new(DiskBuffer { key, write_max: writer.flush_lines, ..wish.clone() })
}

/// Gives an outlet its queue on disk where the destination has `disk-buffer()`, and otherwise a place for
/// what is left at the end.
pub fn keep(
    writer: &Writer,
    shared: &Shared,
    outlet: &Outlet,
    limits: QueueLimits,
    part: &[u8],
) -> Result<(), Fault> {
    outlet.set_form(writer.form());
    outlet.set_kin(writer.kin);
    if writer.parts.is_some() {
        outlet.has_parts();
    }
    match of(writer) {
        Some(options) => outlet.keep_on_disk(&shared.durable, &options, part),
        None => {
            outlet.keep_at_end(&shared.durable, &refuge(writer, limits), part);
            Ok(())
        }
    }
}

/// Which numbers the messages of a queue on disk have. The log's key stays secret: who knows it could send
/// what looks like its frames.
pub fn numbering(shared: &Shared, options: &DiskBuffer, part: &[u8]) -> Result<u64, Fault> {
    let place = shared.durable.place(options)?;
    let mut digest = Sha256::new();
    digest.update(place.log.key().to_le_bytes());
    digest.update(options.queue_name(part));
    let digest = digest.finalize();
    Ok(digest.first_chunk::<8>().map_or(1, |bytes| u64::from_le_bytes(*bytes)).max(1))
}
