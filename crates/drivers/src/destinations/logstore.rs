//! `logstore()`: messages into files of compressed, encrypted, chained and time-stamped chunks.

mod sink;
mod stamping;
mod table;

use conf_schema::Settings;
use delivery::files::{self, FileDestination, Named};
use delivery::writing::{self, Layout};
use diag::{Diagnostic, Diagnostics, Reported};
use driver_options::needs;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use engine::{Key, Need, Sink};
use logstore::{Certificate, Digest, stamp};
use sink::{LogstoreSink, Plan};
use stamping::Authority;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::LOGSTORE, build).needing(needs)];

/// A longer certificate file is none.
const CERTIFICATE_BYTES_MAX: u64 = 1 << 20;

fn needs(s: &Settings) -> Vec<Need<'static>> {
    let option = "encrypt-certificate";
    let key = s.path(option).map(|path| {
        Need::Key(Key { option, what: "certificate", path: path.to_owned(), at: s.span(option) })
    });
    needs::of_output(s).into_iter().chain(key).collect()
}

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let mut writer = writing::writer(s, cx, Layout::File, diags)?;
    let (path, name) = files::name(s, cx, diags)?;
    let files = files::options(s, cx, &name, diags);
    let certificate = s.path("encrypt-certificate").map(certificate);
    let digest = match s.choice("digest") {
        Some("sha1") => Digest::Sha1,
        _ => Digest::Sha256,
    };
    if certificate.is_some() && digest == Digest::Sha1 {
        let finding = Diagnostic::error(
            "D0260",
            "encrypted stores have SHA-256 digests",
            s.span("digest").ok_or(Reported)?,
        );
        diags.push(finding.help("leave digest() out"));
        return Err(Reported);
    }
    // Nothing else is written, and other ciphers are refused by name.
    let _ = s.choice("cipher");
    let kilobytes = s.int("chunk-size").and_then(|n| usize::try_from(n).ok()).map(|n| n << 10);
    let block = s.size("journal-block-size").and_then(|n| usize::try_from(n).ok()).unwrap_or(1 << 20);
    let level = s.int("compress").and_then(|n| u32::try_from(n).ok()).unwrap_or(3);
    // Without its certificate a store is not begun: messages wait for it.
    let settings = certificate.transpose().map(|certificate| {
        Arc::new(logstore::Settings { level, digest, certificate, chunk_bytes: kilobytes.unwrap_or(block) })
    });
    let plan = Arc::new(Plan {
        files,
        store: settings,
        chunk_time: s.seconds("chunk-time").unwrap_or(Duration::from_secs(5)),
        authority: authority(s, diags)?.map(Arc::new),
    });
    let key = writing::key(s, &mut writer, || format!("logstore({path})"));
    let make = Box::new(move |file: Named| -> Box<dyn Sink> {
        Box::new(LogstoreSink::new(file.name, Arc::clone(&plan)))
    });
    let destination = FileDestination::of("logstore", name, writer, writing::limits(s), make);
    Ok(DestinationDriver { key, destination: Arc::new(destination) })
}

/// The error says why it cannot be used.
fn certificate(path: &Path) -> Result<Certificate, String> {
    let read = regular::read(path, CERTIFICATE_BYTES_MAX).map_err(|error| error.to_string());
    let certificate = read.and_then(|pem| Certificate::read(&pem).map_err(|error| error.to_string()));
    certificate.map_err(|error| format!("{}: {error}", path.display()))
}

/// The time stamping authority, where one is asked for.
fn authority(s: &Settings, diags: &mut Diagnostics) -> Result<Option<Authority>, Reported> {
    let (freq, policy) =
        (s.seconds("timestamp-freq").unwrap_or(Duration::from_secs(60)), s.text("timestamp-policy"));
    let Some(url) = s.text("timestamp-url") else {
        let option = ["timestamp-policy", "timestamp-freq"].into_iter().find(|option| s.is_set(option));
        if let Some(at) = option.and_then(|option| s.span(option)) {
            let finding = Diagnostic::error("D0260", "there is no authority to ask for time stamps", at);
            diags.push(finding.help("add `timestamp-url(\"http://tsa.example.com/\")`"));
            return Err(Reported);
        }
        return Ok(None);
    };
    if !stamp::is_address(url) {
        let text = format!("`{url}` is no address of an authority");
        let finding = Diagnostic::error("D0260", text, s.span("timestamp-url").ok_or(Reported)?);
        diags.push(
            finding.help("write `http://HOST:PORT/PATH`: stamps are signed, so that nothing is won by TLS"),
        );
        return Err(Reported);
    }
    let policy = match policy {
        None => None,
        Some(text) => match stamp::policy(text) {
            Some(policy) => Some(policy),
            None => {
                let text = format!("`{text}` is no object identifier");
                let finding = Diagnostic::error("D0260", text, s.span("timestamp-policy").ok_or(Reported)?);
                diags.push(finding.help("write numbers with dots, `1.3.6.1.4.1.13762.3`"));
                return Err(Reported);
            }
        },
    };
    Ok(Some(Authority { url: url.to_owned(), freq, policy }))
}
