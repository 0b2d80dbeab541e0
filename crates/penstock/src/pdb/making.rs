//! `pdb merge` and `pdb patternize`: databases that are written.

use super::{MergeArgs, PatternizeArgs};
use patterndb::{cluster, write};
use record::{Record, Zone};
use std::path::{Path, PathBuf};
use stdio::CommandError;

/// Folders inside each other.
const DEPTH_MAX: usize = 64;

pub fn merge(args: &MergeArgs) -> Result<u8, CommandError> {
    let mut files = Vec::new();
    gather(&args.directory, args.recursive, DEPTH_MAX, &mut files)?;
    if let Some(pattern) = &args.glob {
        let pattern = glob::Pattern::new(pattern).map_err(|e| format!("wrong --glob: {e}"))?;
        files.retain(|f| f.file_name().and_then(|n| n.to_str()).is_some_and(|n| pattern.matches(n)));
    }
    let mut texts = Vec::new();
    for file in &files {
        let (bytes, database) = super::database(file)?;
        texts.push((database.version, String::from_utf8_lossy(&bytes).into_owned()));
    }
    if texts.is_empty() {
        return Err(format!("there is no database in {}", args.directory.display()).into());
    }
    // Written beside and renamed, so that who reads the database never sees a half of it.
    let beside = args.pdb.with_extension("new");
    let written = std::fs::write(&beside, write::merge(&texts, &super::today()))
        .and_then(|()| std::fs::rename(&beside, &args.pdb));
    written.map_err(|e| format!("cannot write {}: {e}", args.pdb.display()))?;
    Ok(0)
}

/// The files of a folder, in the order of their names.
fn gather(
    folder: &Path,
    recursive: bool,
    depth: usize,
    files: &mut Vec<PathBuf>,
) -> Result<(), CommandError> {
    let wrong = |e: std::io::Error| format!("cannot read {}: {e}", folder.display());
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        entries.push(entry.map_err(wrong)?.path());
    }
    entries.sort();
    for path in entries {
        if path.is_file() {
            files.push(path);
        } else if recursive && depth > 0 && path.is_dir() {
            gather(&path, recursive, depth - 1, files)?;
        }
    }
    Ok(())
}

pub fn patternize(args: &PatternizeArgs) -> Result<u8, CommandError> {
    if args.delimiters.contains('@') {
        return Err("an at sign cannot separate words: it begins a parser in a pattern".into());
    }
    if !(args.support > 0.0 && args.support <= 100.0) {
        return Err("--support is a percentage: more than 0, at most 100".into());
    }
    let text = String::from_utf8_lossy(&super::read(&args.file)?).into_owned();
    let lines: Vec<String> = match args.no_parse {
        true => text.lines().map(str::to_owned).collect(),
        false => text.lines().filter(|l| !l.is_empty()).map(message).collect(),
    };
    let options = cluster::Options {
        support: args.support,
        delimiters: &args.delimiters,
        outliers: args.iterate_outliers,
        named: args.named_parsers,
        samples: args.samples,
    };
    let clusters = cluster::clusters(&lines, &options);
    crate::printing::print(&write::of_clusters(&clusters, &super::today()));
    Ok(0)
}

/// A line without its syslog header.
fn message(line: &str) -> String {
    let options = wire::SyslogOptions { recv_zone: Zone::UTC, ..wire::SyslogOptions::default() };
    let context = std::sync::Arc::new(record::Context::local("", "localhost", "local+file"));
    let mut batch = record::Batch::new(Vec::new(), context, record::Stamp::default());
    let frame = batch.append(line.as_bytes());
    batch.records.push(Record::new(frame));
    wire::SyslogParser::new(options).parse_batch(&mut batch, 0);
    let text = batch.records.first().map(|r| batch.bytes(r.message)).unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}
