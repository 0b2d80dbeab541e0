//! `recover`: what a kill left in the journal of a store, put into it.

use super::told;
use logstore::{Certificate, Error, Settings, Writer};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stdio::CommandError;

#[derive(Debug, clap::Args)]
pub struct RecoverArgs {
    /// How much chunks are compressed; 0 does not, 9 takes longest
    #[arg(short, long, value_name = "LEVEL", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=9))]
    compress_level: u32,
    #[arg(required = true, value_name = "STORE")]
    files: Vec<PathBuf>,
}

pub fn recover(args: &RecoverArgs) -> Result<bool, CommandError> {
    super::each(&args.files, |path| one(path, args.compress_level))
}

fn one(path: &Path, level: u32) -> Result<bool, CommandError> {
    let header = super::open(path)?.header;
    let mut journal = path.as_os_str().to_owned();
    journal.push(".jor");
    let journal = PathBuf::from(journal);
    let both = |path: &Path| {
        let opened = File::options().read(true).write(true).create(true).truncate(false).open(path);
        opened.map_err(|error| format!("{}: {error}", path.display()))
    };
    let store = both(path)?;
    flock(&store, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| format!("{}: a running program writes it", path.display()))?;
    let certificate = match header.certificate.as_slice() {
        [] => None,
        der => Some(Certificate::of_der(der).map_err(|error| told(path, &error))?),
    };
    let digest =
        header.digest().ok_or_else(|| told(path, &Error::Foreign("its digest is not known here")))?;
    let settings = Arc::new(Settings { level, digest, certificate, chunk_bytes: 1 << 20 });
    let (_, opened) = Writer::open(store, both(&journal)?, &settings).map_err(|error| told(path, &error))?;
    std::fs::remove_file(&journal).map_err(|error| format!("{}: {error}", journal.display()))?;
    stdio::out!(
        "{}: {} messages out of the journal, {} records that the header did not know, {} bytes of half a record cut off",
        path.display(),
        opened.recovered,
        opened.repair.found,
        opened.repair.cut
    );
    Ok(true)
}
