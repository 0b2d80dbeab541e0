//! Names of senders: a cache in front of a thread that asks the system's resolver, so that no worker ever
//! waits for a name server.

use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

/// `use-dns()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameUse {
    No,
    #[default]
    Yes,
    /// `persist-only`: only the file of `dns-cache-hosts()`, or /etc/hosts.
    PersistOnly,
}

#[derive(Clone, Debug)]
pub struct DnsOptions {
    pub cache: bool,
    /// Entries.
    pub cache_size: usize,
    pub expire: Duration,
    pub expire_failed: Duration,
    pub hosts: Option<PathBuf>,
}

impl Default for DnsOptions {
    fn default() -> DnsOptions {
        DnsOptions {
            cache: true,
            cache_size: 1007,
            expire: Duration::from_secs(3600),
            expire_failed: Duration::from_secs(60),
            hosts: None,
        }
    }
}

type Waiter = Box<dyn FnOnce(&str) + Send>;

struct Entry {
    /// `None` when the address has no name.
    name: Option<Arc<str>>,
    until: Instant,
}

#[derive(Default)]
struct State {
    entries: HashMap<IpAddr, Entry>,
    waiting: HashMap<IpAddr, Vec<Waiter>>,
    queue: VecDeque<IpAddr>,
    hosts: HashMap<IpAddr, Arc<str>>,
    hosts_read: Option<SystemTime>,
    stopped: bool,
}

struct Inner {
    state: Mutex<State>,
    work: Condvar,
    /// Started with the first question: a program that gives up privileges must have no threads yet when it
    /// has read its configuration.
    threads: OnceLock<()>,
    options: DnsOptions,
}

/// Threads that ask the name server: one slow answer does not hold up the next.
const THREADS: usize = 2;
/// Lookups that may wait; beyond it a sender is called by its number.
const QUEUE_MAX: usize = 10_000;
/// Callers that may wait for one answer.
const WAITERS_MAX: usize = 16_384;

pub struct Resolver(Arc<Inner>);

impl Resolver {
    pub fn new(options: DnsOptions) -> Resolver {
        let threads = OnceLock::new();
        Resolver(Arc::new(Inner { state: Mutex::default(), work: Condvar::new(), threads, options }))
    }

    /// One resolver, and so one cache, for all who ask with the same options, over reloads too.
    pub fn shared(options: DnsOptions) -> Arc<Resolver> {
        static RESOLVERS: OnceLock<Mutex<HashMap<String, Arc<Resolver>>>> = OnceLock::new();
        let mut resolvers = RESOLVERS.get_or_init(Mutex::default).lock();
        let key = format!("{options:?}");
        Arc::clone(resolvers.entry(key).or_insert_with(|| Arc::new(Resolver::new(options))))
    }

    /// The full name of an address if it is known now. When it has to be asked for, `None` comes back and
    /// `then` is called once with the answer (the number itself when there is no name), from another thread.
    pub fn name(
        &self,
        address: IpAddr,
        how: NameUse,
        then: impl FnOnce(&str) + Send + 'static,
    ) -> Option<Arc<str>> {
        let address = address.to_canonical();
        let number = || Some(address.to_string().into());
        if how == NameUse::No {
            return number();
        }
        let mut state = self.0.state.lock();
        refresh_hosts(&mut state, &self.0.options, how);
        if let Some(name) = state.hosts.get(&address) {
            return Some(Arc::clone(name));
        }
        if how == NameUse::PersistOnly {
            return number();
        }
        if let Some(entry) = state.entries.get(&address)
            && entry.until > Instant::now()
        {
            return entry.name.clone().or_else(number);
        }
        if state.queue.len() >= QUEUE_MAX {
            return number();
        }
        let waiters = state.waiting.entry(address).or_default();
        if waiters.len() >= WAITERS_MAX {
            return number();
        }
        waiters.push(Box::new(then));
        if waiters.len() == 1 {
            state.queue.push_back(address);
            self.0.threads.get_or_init(|| self.start());
            self.0.work.notify_one();
        }
        None
    }

    fn start(&self) {
        for _ in 0..THREADS {
            let inner = Arc::clone(&self.0);
            // Without the thread names stay numbers; nothing else depends on it.
            let _ = std::thread::Builder::new().name("resolver".into()).spawn(move || serve(&inner));
        }
    }

    /// Applies use-fqdn() and normalize-hostnames() to a full name. Numbers stay as they
    /// are.
    pub fn shape(&self, name: &str, use_fqdn: bool, normalize: bool) -> String {
        let mut name = match name.parse::<IpAddr>() {
            Ok(_) => return name.to_owned(),
            Err(_) if use_fqdn => name.to_owned(),
            Err(_) => name.split('.').next().unwrap_or(name).to_owned(),
        };
        if normalize {
            name.make_ascii_lowercase();
        }
        name
    }
}

impl Drop for Resolver {
    fn drop(&mut self) {
        self.0.state.lock().stopped = true;
        self.0.work.notify_all();
    }
}

fn serve(inner: &Inner) {
    loop {
        let address = {
            let mut state = inner.state.lock();
            loop {
                if state.stopped {
                    return;
                }
                match state.queue.pop_front() {
                    Some(address) => break address,
                    None => inner.work.wait(&mut state),
                }
            }
        };
        // The resolver answers with the number itself when there is no name.
        let name = dns_lookup::lookup_addr(&address).ok().filter(|n| n.parse::<IpAddr>().is_err());
        let name: Option<Arc<str>> = name.map(Into::into);
        let mut state = inner.state.lock();
        if inner.options.cache {
            let life = if name.is_some() { inner.options.expire } else { inner.options.expire_failed };
            if state.entries.len() >= inner.options.cache_size.max(1) {
                let now = Instant::now();
                state.entries.retain(|_, e| e.until > now);
                if state.entries.len() >= inner.options.cache_size.max(1)
                    && let Some(any) = state.entries.keys().next().copied()
                {
                    state.entries.remove(&any);
                }
            }
            state.entries.insert(address, Entry { name: name.clone(), until: Instant::now() + life });
        }
        let waiters = state.waiting.remove(&address).unwrap_or_default();
        drop(state);
        let answer = name.unwrap_or_else(|| address.to_string().into());
        for waiter in waiters {
            waiter(&answer);
        }
    }
}

/// Bytes of a hosts file.
const HOSTS_BYTES_MAX: u64 = 64 << 20;

/// Reads the hosts file when it changed.
fn refresh_hosts(state: &mut State, options: &DnsOptions, how: NameUse) {
    let default = PathBuf::from("/etc/hosts");
    let path = match (&options.hosts, how) {
        (Some(path), _) => path,
        (None, NameUse::PersistOnly) => &default,
        _ => return,
    };
    let changed = std::fs::metadata(path).and_then(|m| m.modified()).ok();
    if changed.is_none() || changed == state.hosts_read {
        return;
    }
    state.hosts_read = changed;
    state.hosts =
        regular::read_to_string(path, HOSTS_BYTES_MAX).map(|text| parse_hosts(&text)).unwrap_or_default();
}

fn parse_hosts(text: &str) -> HashMap<IpAddr, Arc<str>> {
    text.lines()
        .filter_map(|line| {
            let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
            Some((words.next()?.parse().ok()?, words.next()?.into()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn hosts_file_and_numbers() {
        let mut file = tempfile::NamedTempFile::new().expect("temp file");
        writeln!(file, "192.0.2.1 Alpha.example.org alpha # x\n2001:db8::1 beta").expect("write");
        let options = DnsOptions { hosts: Some(file.path().to_owned()), ..DnsOptions::default() };
        let resolver = Resolver::new(options);
        let name = |ip: &str, how| resolver.name(ip.parse().expect("ip"), how, |_| {}).map(|n| n.to_string());
        assert_eq!(name("192.0.2.1", NameUse::PersistOnly).as_deref(), Some("Alpha.example.org"));
        assert_eq!(name("::ffff:192.0.2.1", NameUse::Yes).as_deref(), Some("Alpha.example.org"));
        assert_eq!(name("192.0.2.9", NameUse::PersistOnly).as_deref(), Some("192.0.2.9"));
        assert_eq!(name("192.0.2.1", NameUse::No).as_deref(), Some("192.0.2.1"));
        assert_eq!(resolver.shape("Alpha.example.org", false, true), "alpha");
        assert_eq!(resolver.shape("Alpha.example.org", true, false), "Alpha.example.org");
        assert_eq!(resolver.shape("192.0.2.1", false, false), "192.0.2.1");
    }

    #[test]
    fn a_lookup_answers_later_and_is_cached() {
        let resolver = Resolver::new(DnsOptions::default());
        let (tx, rx) = std::sync::mpsc::channel();
        let loopback: IpAddr = "127.0.0.1".parse().expect("ip");
        if resolver.name(loopback, NameUse::Yes, move |name| drop(tx.send(name.to_owned()))).is_none() {
            assert!(!rx.recv().expect("answer").is_empty());
            assert!(resolver.name(loopback, NameUse::Yes, |_| {}).is_some());
        }
    }
}
