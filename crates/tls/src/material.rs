//! Certificates and revocation lists from the files the configuration names.

use diag::Fault;
use rustls_pki_types::pem::{Error as PemError, PemObject};
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use webpki::{BorrowedCertRevocationList, Error};

/// Files read from `ca-dir()` or `crl-dir()`.
const FILES_MAX: usize = 10_000;
/// A key, chain or list beyond this is no such file.
const FILE_BYTES_MAX: u64 = 64 << 20;

pub fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(path)?).collect();
    match found {
        Ok(found) if found.is_empty() => {
            Err(Fault::misconfigured(format!("no certificate in {} (PEM is expected)", path.display())))
        }
        Ok(found) => Ok(found),
        Err(error) => Err(wrong(path, "certificate", &error)),
    }
}

/// Certificates of `ca-file()` and of every file of `ca-dir()`. A folder that cannot be read has none, as in
/// OpenSSL: nobody is trusted because of it, and that is said.
pub fn authorities(file: Option<&Path>, dir: Option<&Path>) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let mut found = match file {
        Some(path) => chain(path)?,
        None => Vec::new(),
    };
    let files = files(dir).unwrap_or_else(|error| {
        oplog::warning("Cannot read ca-dir(), no certificate in it is trusted", &[("error", &error)]);
        Vec::new()
    });
    for path in files {
        // A folder may hold other things: what is no certificate is passed over, as OpenSSL does.
        found.extend(chain(&path).unwrap_or_default());
    }
    found.sort_by(|a, b| a.as_ref().cmp(b.as_ref()));
    found.dedup();
    Ok(found)
}

pub fn revocation_lists(dir: Option<&Path>) -> Result<Vec<CertificateRevocationListDer<'static>>, Fault> {
    let mut found = Vec::new();
    for path in files(dir)? {
        let lists: Result<Vec<_>, _> = CertificateRevocationListDer::pem_slice_iter(&read(&path)?).collect();
        let lists = lists.map_err(|error| wrong(&path, "revocation list", &error))?;
        lists.iter().try_for_each(|list| usable(&path, list))?;
        found.extend(lists);
    }
    // Hash links name the same lists again.
    found.sort_by(|a, b| a.as_ref().cmp(b.as_ref()));
    found.dedup();
    match dir {
        Some(dir) if found.is_empty() => {
            Err(Fault::misconfigured(format!("no revocation list in {}", dir.display())))
        }
        _ => Ok(found),
    }
}

/// Whether the library takes the list; the error says which file it is in, and what is missing there.
fn usable(path: &Path, list: &CertificateRevocationListDer<'_>) -> Result<(), Fault> {
    let Err(error) = BorrowedCertRevocationList::from_der(list) else { return Ok(()) };
    let reason = match error {
        Error::UnsupportedCrlVersion | Error::MalformedExtensions | Error::BadDer => {
            "it is of version 1, has no number, which RFC 5280 wants, or is damaged: with openssl, make it anew \
             with `crl_extensions` (`authorityKeyIdentifier=keyid:always`) and `crlnumber` in its configuration"
                .to_owned()
        }
        other => other.to_string(),
    };
    Err(Fault::misconfigured(format!("the revocation list in {} cannot be used: {reason}", path.display())))
}

fn files(dir: Option<&Path>) -> Result<Vec<PathBuf>, Fault> {
    let Some(dir) = dir else { return Ok(Vec::new()) };
    let failed = |error: std::io::Error| {
        Fault::of_file(&error, format!("cannot read the folder {}: {error}", dir.display()))
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(failed)?.take(FILES_MAX) {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

pub fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    regular::read(path, FILE_BYTES_MAX).map_err(|error| {
        let said = match error.kind() {
            ErrorKind::FileTooLarge => format!("{} is too large for a certificate or key", path.display()),
            _ => format!("cannot read {}: {error}", path.display()),
        };
        Fault::of_file(&error, said)
    })
}

pub fn wrong(path: &Path, what: &str, error: &PemError) -> Fault {
    Fault::misconfigured(format!("the {what} in {} cannot be read: {error}", path.display()))
}
