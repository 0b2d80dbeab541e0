//! `$(dns-resolve-ip ADDRESS)`: the name of an address, from the cache that sources use, without ever waiting
//! for a name server.

use crate::call::Call;
use crate::function::{Build, Function, FunctionInfo, with_args};
use crate::{Cost, Msg, NameUse, RenderContext, Template, TemplateError};
use record::{Demand, Stamp, ValueType};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use transport::Resolver;

pub(super) const FUNCTIONS: &[FunctionInfo] = &[FunctionInfo {
    name: "dns-resolve-ip",
    usage: "[--use-dns yes|no|persist-only] [--use-fqdn yes|no] [--dns-cache yes|no] [--normalize-hostnames yes|no] ADDRESS",
    help: "the name of an IP address; its options are those of the global options unless given. No message waits for a name server: \
           until the answer is there, messages get the address itself. With the cache off, names are kept for a second. What is no \
           address gives nothing",
    arity: (1, 1),
    options: &[
        ("--use-dns", true),
        ("--use-fqdn", true),
        ("--dns-cache", true),
        ("--normalize-hostnames", true),
    ],
    build: Build::Special(build),
    example: ("$(dns-resolve-ip --use-dns no 192.0.2.1)", "192.0.2.1"),
    cost: Cost::of(
        "a look into a table of the worker; the cache of all is asked once a minute for each address",
    ),
}];

/// Seconds a worker keeps a name before it asks the cache again.
const KEPT_SECS: i64 = 60;
/// Names a worker keeps; a table that is full starts anew.
const KNOWN_MAX: usize = 8192;

struct Resolve {
    /// Whose names they are in the worker's table.
    slot: u32,
    resolver: Arc<Resolver>,
    use_dns: NameUse,
    use_fqdn: bool,
    normalize: bool,
    /// Seconds.
    kept: i64,
    address: Box<[Template]>,
}

/// What a worker knows.
#[derive(Debug, Default)]
pub(crate) struct KnownNames(HashMap<(u32, IpAddr), Known>);

#[derive(Debug)]
struct Known {
    name: Box<str>,
    asked: Stamp,
    /// The cache had an answer.
    answered: bool,
}

fn build(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    static SLOTS: AtomicU32 = AtomicU32::new(0);
    let mut names = call.compiler.scope.names();
    let choice = |name: &str, otherwise: bool| match call.option(name).as_deref() {
        None => Ok(otherwise),
        Some("yes" | "on" | "1") => Ok(true),
        Some("no" | "off" | "0") => Ok(false),
        Some(other) => Err(call.error(0, format!("`{name}` is yes or no, not `{other}`"))),
    };
    let use_dns = match call.option("--use-dns").map(|word| word.replace('_', "-")).as_deref() {
        None => names.use_dns,
        Some("persist-only") => NameUse::PersistOnly,
        Some("yes" | "on" | "1") => NameUse::Yes,
        Some("no" | "off" | "0") => NameUse::No,
        Some(other) => {
            let text = format!("`--use-dns` is yes, no or persist-only, not `{other}`");
            return Err(call.error(0, text));
        }
    };
    let use_fqdn = choice("--use-fqdn", names.use_fqdn)?;
    let normalize = choice("--normalize-hostnames", names.normalize_hostnames)?;
    let cached = choice("--dns-cache", names.dns.cache)?;
    // Answers come back through the cache.
    names.dns.cache = true;
    if !cached {
        (names.dns.expire, names.dns.expire_failed) = (Duration::from_secs(1), Duration::from_secs(1));
    }
    call.boxed(Resolve {
        slot: SLOTS.fetch_add(1, Ordering::Relaxed),
        resolver: Resolver::shared(names.dns),
        use_dns,
        use_fqdn,
        normalize,
        kept: if cached { KEPT_SECS } else { 1 },
        address: call.templates(0)?,
    })
}

impl Resolve {
    fn print(&self, address: &[u8], now: Stamp, known: &mut KnownNames, out: &mut Vec<u8>) -> Option<()> {
        let address: IpAddr = std::str::from_utf8(address).ok()?.trim().parse().ok()?;
        let known = &mut known.0;
        // What was not known is asked for again with the next batch.
        let fresh = |k: &Known| match k.answered {
            true => (0..self.kept).contains(&now.secs.saturating_sub(k.asked.secs)),
            false => k.asked == now,
        };
        if let Some(found) = known.get(&(self.slot, address)).filter(|k| fresh(k)) {
            out.extend_from_slice(found.name.as_bytes());
            return Some(());
        }
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        let answer = self.resolver.name(address, self.use_dns, |_| {});
        let answered = answer.is_some();
        let name = match answer {
            Some(name) => self.resolver.shape(&name, self.use_fqdn, self.normalize),
            None => address.to_string(),
        };
        out.extend_from_slice(name.as_bytes());
        known.insert((self.slot, address), Known { name: name.into(), asked: now, answered });
        Some(())
    }
}

impl Function for Resolve {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        with_args(&self.address, msg, cx, |args, cx| {
            let now = cx.now();
            self.print(args.get(0), now, &mut cx.names, out);
        });
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        self.address.iter().for_each(|address| address.reads(demand));
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, check_error};
    use crate::{DnsOptions, Msg, NameOptions, NameUse, Scope, Template, TemplateOptions, sample};
    use std::io::Write;
    use std::path::PathBuf;

    struct Hosts(PathBuf);

    impl Scope for Hosts {
        fn names(&self) -> NameOptions {
            let dns = DnsOptions { hosts: Some(self.0.clone()), ..DnsOptions::default() };
            NameOptions { use_dns: NameUse::PersistOnly, dns, ..NameOptions::default() }
        }
    }

    #[test]
    fn names_of_the_hosts_file() {
        let path = std::env::temp_dir().join(format!("penstock-hosts-{}", std::process::id()));
        let mut file = std::fs::File::create(&path).expect("a file");
        file.write_all(b"192.0.2.1 Alpha.example.org\n").expect("written");
        let batch = sample::batch();
        let mut cx = sample::context();
        for (text, expected) in [
            ("$(dns-resolve-ip 192.0.2.1)", "Alpha"),
            ("$(dns-resolve-ip --use-fqdn yes 192.0.2.1)", "Alpha.example.org"),
            ("$(dns-resolve-ip --normalize-hostnames yes 192.0.2.1)", "alpha"),
            ("$(dns-resolve-ip --use-dns no 192.0.2.1)", "192.0.2.1"),
            ("$(dns-resolve-ip 192.0.2.2)", "192.0.2.2"),
            ("$(dns-resolve-ip $SOURCEIP)", "10.1.2.3"),
            ("$(dns-resolve-ip nonsense)", ""),
        ] {
            let template = Template::compile(text, &TemplateOptions::default(), &Hosts(path.clone()));
            let template = template.unwrap_or_else(|e| panic!("{text}: {e}"));
            for _ in 0..2 {
                let mut out = Vec::new();
                template.render(Msg { batch: &batch, record: &batch.records[0] }, &mut cx, &mut out);
                assert_eq!(String::from_utf8_lossy(&out), expected, "{text}");
            }
        }
        std::fs::remove_file(&path).expect("removed");
    }

    #[test]
    fn wrong_options() {
        check("$(dns-resolve-ip --use-dns=no --dns-cache no ::1)", "::1");
        check_error("$(dns-resolve-ip --use-dns maybe ::1)", 33, "persist-only");
        check_error("$(dns-resolve-ip --use-fqdn maybe ::1)", 34, "yes or no");
        check_error("$(dns-resolve-ip ::1 ::2)", 0, "takes 1");
    }
}
