//! `validate`: what of a store is not as it was written.

use super::{keys, told};
use logstore::stamp::{self, Authorities};
use logstore::{Report, Trust, check};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use stdio::CommandError;

/// A larger file has no certificates.
const PEM_BYTES_MAX: u64 = 16 << 20;

#[derive(Debug, clap::Args)]
pub struct ValidateArgs {
    /// Private key (PEM), to look into encrypted chunks
    #[arg(short, long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Authorities whose time stamps are believed: a folder of PEM files
    #[arg(short = 'C', long, value_name = "FOLDER")]
    ca_dir: Option<PathBuf>,
    /// The same as one file
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// The policy that time stamps must have, as object identifier
    #[arg(short = 'P', long, value_name = "OID", value_parser = policy)]
    ts_policy: Option<std::sync::Arc<Vec<u8>>>,
    /// The last chunk must have a time stamp
    #[arg(long)]
    require_ts: bool,
    #[arg(required = true, value_name = "STORE")]
    files: Vec<PathBuf>,
}

fn policy(text: &str) -> Result<std::sync::Arc<Vec<u8>>, CommandError> {
    Ok(stamp::policy(text).map(Into::into).ok_or_else(|| "it is no object identifier".to_owned())?)
}

pub fn validate(args: &ValidateArgs) -> Result<bool, CommandError> {
    super::each(&args.files, |path| {
        let mut trust = Trust {
            keys: keys(args.key.as_deref())?,
            authorities: authorities(args)?,
            require_stamps: args.require_ts,
            policy: args.ts_policy.as_ref().map(|policy| policy.to_vec()),
        };
        let file = regular::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let report =
            check(BufReader::with_capacity(1 << 16, file), &mut trust).map_err(|error| told(path, &error))?;
        say(path, &report, trust.authorities.is_some());
        Ok(report.is_clean())
    })
}

fn say(path: &Path, report: &Report, trusts: bool) {
    for finding in &report.findings {
        stdio::err!("{}: {finding}", path.display());
    }
    if report.more > 0 {
        stdio::err!("{}: and {} findings more", path.display(), report.more);
    }
    if report.locked > 0 {
        stdio::err!("{}: {} encrypted chunks were not looked into", path.display(), report.locked);
    }
    if report.stamps > 0 && !trusts {
        stdio::err!(
            "{}: who has made its time stamps was not looked at: give --ca-file or --ca-dir",
            path.display()
        );
    }
    let is_clean = report.is_clean();
    stdio::out!(
        "{}: {} chunks, {} messages, {} time stamps, {}",
        path.display(),
        report.chunks,
        report.messages,
        report.stamps,
        if is_clean { "complete and unchanged" } else { "NOT as it was written" }
    );
}

fn authorities(args: &ValidateArgs) -> Result<Option<Authorities>, CommandError> {
    let wrong = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut files: Vec<PathBuf> = args.ca_file.iter().cloned().collect();
    if let Some(folder) = &args.ca_dir {
        let entries = std::fs::read_dir(folder).map_err(|error| wrong(folder, &error))?;
        files.extend(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()));
    }
    if args.ca_file.is_none() && args.ca_dir.is_none() {
        return Ok(None);
    }
    let mut found = Vec::new();
    for file in files {
        let pem = regular::read(&file, PEM_BYTES_MAX).map_err(|error| wrong(&file, &error))?;
        found.extend(CertificateDer::pem_slice_iter(&pem).flatten());
    }
    if found.is_empty() {
        return Err("there is no certificate of an authority".into());
    }
    Ok(Some(Authorities::new(found)))
}
