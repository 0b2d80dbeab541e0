//! `cat` and `tail`: the messages of a store.

use super::{CatArgs, TailArgs, keys, open, told};
use logstore::serialized::Stored;
use logstore::{Error, Keys, Messages, Reader, Record, SERIALIZED, open as opened};
use record::Civil;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use std::time::Duration;
use stdio::CommandError;

/// How often a store is looked at that is followed.
const LOOK: Duration = Duration::from_millis(200);

pub fn cat(args: &CatArgs) -> Result<bool, CommandError> {
    let out = Out::new();
    super::each(&args.files, |path| {
        let mut walk = Walk::new(path, keys(args.key.as_deref())?)?;
        while walk.chunk(args.seek, |text| {
            let is_wanted = args.grep.as_ref().is_none_or(|wanted| has(&text, wanted.as_bytes()));
            if is_wanted { out.line(&text) } else { Ok(()) }
        })? {}
        Ok(walk.is_well)
    })
}

pub fn tail(args: &TailArgs) -> Result<bool, CommandError> {
    let mut last = VecDeque::new();
    let mut walk = Walk::new(&args.file, keys(args.key.as_deref())?)?;
    let count = args.number as usize;
    let more = |walk: &mut Walk<'_>, last: &mut VecDeque<Vec<u8>>| {
        walk.chunk(1, |text| {
            if last.len() >= count {
                last.pop_front();
            }
            if count > 0 {
                last.push_back(text);
            }
            Ok(())
        })
    };
    while more(&mut walk, &mut last)? {}
    let out = Out::new();
    last.iter().try_for_each(|text| out.line(text)).map_err(|error| error.to_string())?;
    if !args.follow {
        return Ok(walk.is_well);
    }
    walk.is_growing = true;
    loop {
        while walk.chunk(1, |text| out.line(&text))? {}
        out.flush().map_err(|error| error.to_string())?;
        std::thread::sleep(LOOK);
    }
}

fn has(text: &[u8], wanted: &[u8]) -> bool {
    wanted.is_empty() || text.windows(wanted.len()).any(|part| part == wanted)
}

/// Standard output, written to from closures.
struct Out(std::cell::RefCell<BufWriter<std::io::Stdout>>);

impl Out {
    fn new() -> Out {
        Out(std::cell::RefCell::new(BufWriter::with_capacity(1 << 16, std::io::stdout())))
    }

    /// A message ends its line, with or without a line end of its own.
    fn line(&self, text: &[u8]) -> std::io::Result<()> {
        let mut out = self.0.borrow_mut();
        out.write_all(text)?;
        if text.ends_with(b"\n") { Ok(()) } else { out.write_all(b"\n") }
    }

    fn flush(&self) -> std::io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

/// Goes through a store, chunk by chunk.
struct Walk<'a> {
    path: &'a Path,
    reader: Reader<BufReader<File>>,
    keys: Keys,
    is_well: bool,
    /// Half a record at the end is not whole yet.
    is_growing: bool,
}

impl Walk<'_> {
    fn new(path: &Path, keys: Keys) -> Result<Walk<'_>, CommandError> {
        Ok(Walk { path, reader: open(path)?, keys, is_well: true, is_growing: false })
    }

    /// Gives out the messages of the next chunk from one number on; `false` at the end. What cannot be opened
    /// is said, and the next chunk goes on.
    fn chunk(
        &mut self,
        from: u32,
        mut each: impl FnMut(Vec<u8>) -> std::io::Result<()>,
    ) -> Result<bool, CommandError> {
        let ours = self.reader.header.is_ours();
        let mut wrong = None;
        match self.reader.next_record() {
            Ok(None) => return Ok(false),
            Err(Error::Damaged { .. }) if self.is_growing => return Ok(false),
            Err(error) => {
                self.complain(&error);
                return Ok(false);
            }
            Ok(Some((at, bytes))) => match Record::read(bytes) {
                Ok(Record::Key(wrapped)) if ours => wrong = self.keys.add(at, wrapped).err(),
                Ok(Record::Chunk(chunk)) if chunk.last >= from => match opened(&chunk, &self.keys, ours) {
                    Ok(data) => {
                        let skip = from.saturating_sub(chunk.first) as usize;
                        for message in Messages::new(&data).flatten().skip(skip) {
                            let text = if chunk.is(SERIALIZED) { shown(message) } else { message.to_vec() };
                            each(text).map_err(|error| error.to_string())?;
                        }
                    }
                    Err(error) => wrong = Some(error),
                },
                Ok(_) => {}
                Err(what) => wrong = Some(Error::Damaged { at, what }),
            },
        }
        if let Some(error) = wrong {
            self.complain(&error);
        }
        Ok(true)
    }

    fn complain(&mut self, error: &Error) {
        // Each chunk of a store without its key would say the same.
        if self.is_well || !matches!(error, Error::Locked(_)) {
            stdio::err!("penstock logstore: {}", told(self.path, error));
        }
        self.is_well = false;
    }
}

/// A message that PE stored whole, as its default layout has it; as it is when its form is not known.
fn shown(message: &[u8]) -> Vec<u8> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let Some(stored) = Stored::read(message) else { return message.to_vec() };
    let (seconds, _, offset) = stored.stamp;
    let time = Civil::from_seconds((seconds as i64).saturating_add(i64::from(offset)));
    let month = MONTHS.get((time.month as usize).wrapping_sub(1)).copied().unwrap_or("Jan");
    let mut out =
        format!("{month} {:>2} {:02}:{:02}:{:02} ", time.day, time.hour, time.min, time.sec).into_bytes();
    let mut put = |parts: &[&[u8]]| parts.iter().for_each(|part| out.extend_from_slice(part));
    put(&[stored.value("HOST").unwrap_or(b"-"), b" "]);
    match (stored.value("LEGACY_MSGHDR"), stored.value("PROGRAM"), stored.value("PID")) {
        (Some(head), ..) => put(&[head]),
        (None, Some(program), Some(pid)) => put(&[program, b"[", pid, b"]: "]),
        (None, Some(program), None) => put(&[program, b": "]),
        _ => {}
    }
    put(&[stored.value("MESSAGE").unwrap_or_default()]);
    out
}
