//! `$(slog --key-file FILE --mac-file FILE TEXT)`: an entry of a sealed log.

use crate::call::Call;
use crate::function::{Build, Function, FunctionInfo};
use crate::{Cost, Msg, RenderContext, Template, TemplateError};
use record::{Demand, ValueType};
use slog::draft::{ROOM, put};
use slog::{Chain, Scheme};
use std::path::Path;
use std::sync::Arc;

pub(super) const FUNCTIONS: &[FunctionInfo] = &[FunctionInfo {
    name: "slog",
    usage: "--key-file FILE --mac-file FILE [--compat RELEASE] TEXT",
    help: "an entry of a log that nobody can read or change unnoticed, as syslog-ng's secure logging makes it: encrypted with a key \
           that is used once, numbered, and part of the MAC over all entries so far. Stands in the template() of one destination with \
           one file or connection, outside other functions; `slogverify` opens the log, that of syslog-ng 3.38 with `--compat 3.38`, that of \
           AxoSyslog 4.27 with `--compat 4.27`; without it @version decides, from 4.26 on for the latter. docs/secure-logging.md shows it from the \
           first key on",
    arity: (1, 1),
    options: &[("--key-file", true), ("-k", true), ("--mac-file", true), ("-m", true), ("--compat", true)],
    build: Build::Special(build),
    example: (
        "$(slog -k /etc/penstock/host.key -m /etc/penstock/mac.dat $MSG)",
        "AAAAAAAAAAA=:Tfz3Dww7za29v1TMTZIrP/x6m7IXlSPZ4IMS/fBDubSeYgOm",
    ),
    cost: Cost::of(
        "one pass of AES-GCM and one of AES-CMAC over the text, seven blocks of AES for keys, and base64 twice. Each entry needs the one \
         before it, so all entries of a key are sealed one after the other, whatever the number of workers: once for each write of the \
         destination, which also writes the key file and the MAC file",
    ),
}];

/// From this `@version` on, a chain begins as in AxoSyslog 4.27, whose own it is.
const EXPANDED_SINCE: (u16, u16) = (4, 26);

struct Slog {
    chain: Arc<Chain>,
    text: Template,
}

fn build(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    if !call.may_seal {
        let error = call.error(0, "$(slog) cannot be used here");
        return Err(error.help(
            "it stands in the template() of a destination, and not inside another function: entries are numbered in the order in which \
             they leave, and what changes them makes them unreadable",
        ));
    }
    let file = |long: &str, short: &str, what: &str| {
        let given = call.option(long).or_else(|| call.option(short)).filter(|path| !path.is_empty());
        given.ok_or_else(|| call.error(0, format!("$(slog) needs {long}, {what}")))
    };
    let key = file("--key-file", "-k", "the host key")?;
    let mac = file("--mac-file", "-m", "where it keeps the MAC over all entries")?;
    let text = call.template(0)?;
    let scheme = match call.option("--compat").as_deref() {
        Some("3.38") => Scheme::Blocks,
        Some("4.27") => Scheme::Expanded,
        Some(other) => {
            let error = call.error(0, format!("$(slog) has no --compat {other}"));
            return Err(error.help("it is 3.38 or 4.27: the release whose slogverify opens the log"));
        }
        None if call.options().version >= EXPANDED_SINCE => Scheme::Expanded,
        None => Scheme::Blocks,
    };
    let chain = Chain::open(Path::new(&key), Path::new(&mac), scheme)
        .map_err(|error| call.error(0, format!("$(slog): {error}")).help(error.help()))?;
    call.boxed(Slog { chain, text })
}

impl Function for Slog {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let mut scratch = cx.take_scratch();
        scratch.text.resize(ROOM, 0);
        self.text.render(msg, cx, &mut scratch.text);
        if scratch.text.len() == ROOM {
            // Other programs take an entry of nothing for a damaged one.
            scratch.text.push(b' ');
            oplog::limited(
                "slog-empty",
                oplog::Level::Warning,
                "Nothing to seal, an empty entry is written; $RAWMSG needs flags(store-raw-message)",
                &[("template", &self.text.text())],
            );
        }
        put(&self.chain, &mut scratch.text, out);
        cx.put_back(scratch);
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        self.text.reads(demand);
    }

    fn chain(&self) -> Option<&Arc<Chain>> {
        Some(&self.chain)
    }
}

#[cfg(test)]
mod tests;
