//! What a worker keeps between messages to print templates: the time, caches of formatted seconds, scratch
//! buffers.

use crate::budget::Budget;
use crate::date::{Date, DateCache};
use crate::functions::KnownNames;
use crate::sdata::SdataCache;
use crate::tags::TagTexts;
use crate::value_pairs::PairsCache;
use record::{Batch, Stamp, TagId, tag_name};
use std::sync::Arc;

/// Facts about this process that macros print.
#[derive(Clone, Debug)]
pub struct Identity {
    /// `$LOGHOST`.
    pub loghost: Arc<str>,
    /// `$HOSTID`: random, chosen once per installation.
    pub host_id: u32,
    /// `$RUNID`.
    pub run_id: u64,
    /// Start of the process, for `$SYSUPTIME`.
    pub started: Stamp,
}

impl Identity {
    pub fn new(loghost: &str) -> Identity {
        Identity { loghost: loghost.into(), host_id: 0, run_id: 1, started: Stamp::now(0) }
    }

    /// With the name that use-fqdn() and custom-domain() give this machine.
    pub fn named(&self, fqdn: bool, custom_domain: Option<&str>) -> Identity {
        let loghost = transport::host_name_of(&self.loghost, fqdn, custom_domain).into();
        Identity { loghost, ..self.clone() }
    }
}

/// One per worker; never shared.
#[derive(Debug)]
pub struct RenderContext {
    pub identity: Identity,
    /// Number of the next local message at this destination (`$SEQNUM`, `[meta sequenceId="n"]`); `None`
    /// where messages are not numbered. [`crate::Template::render_selection`] counts it up after each local
    /// message.
    pub seqnum: Option<u64>,
    /// Messages of other machines are numbered too.
    pub number_all: bool,
    now: Stamp,
    dates: Vec<Option<DateCache>>,
    /// Names of the tags that configurations know, by number.
    tag_names: Vec<&'static str>,
    /// The texts of sets of tags.
    pub(crate) tags: TagTexts,
    scratch: Vec<Scratch>,
    pub(crate) sdata: SdataCache,
    pub(crate) pairs: PairsCache,
    pub(crate) patterns: Patterns,
    /// Of `$(dns-resolve-ip)`.
    pub(crate) names: KnownNames,
    /// The messages of the correlation context that is printed for, the newest last.
    pub(crate) messages: Option<Arc<Batch>>,
    /// `$CONTEXT_ID` of it.
    pub(crate) context_id: Vec<u8>,
    /// `$_` inside `$(map)` and `$(filter)`.
    pub(crate) item: Option<Vec<u8>>,
    pub(crate) budget: Budget,
    /// Messages of the last selection whose text was given up, by their places in it.
    pub oversized: Vec<u32>,
    /// How Python functions get values, by the names of their calls.
    #[cfg(feature = "python")]
    pub(crate) python: std::collections::HashMap<record::NameId, Box<crate::python::Values>>,
    random: u64,
}

/// Scratch memory of regular expressions.
#[derive(Default)]
pub(crate) struct Patterns(pub pattern::Cache);

impl std::fmt::Debug for Patterns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Patterns")
    }
}

/// Rendered arguments of a template function.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub text: Vec<u8>,
    pub ends: Vec<u32>,
}

impl RenderContext {
    pub fn new(identity: Identity) -> RenderContext {
        let now = identity.started;
        let mut cx = RenderContext {
            identity,
            seqnum: None,
            number_all: false,
            now,
            dates: Vec::new(),
            tag_names: Vec::new(),
            tags: TagTexts::default(),
            scratch: Vec::new(),
            sdata: SdataCache::default(),
            pairs: PairsCache::default(),
            patterns: Patterns::default(),
            names: KnownNames::default(),
            messages: None,
            context_id: Vec::new(),
            item: None,
            budget: Budget::default(),
            oversized: Vec::new(),
            #[cfg(feature = "python")]
            python: std::collections::HashMap::new(),
            random: seed(),
        };
        cx.begin_batch(now);
        cx
    }

    /// Takes the current time, with the offset of the local zone, for all messages until the next call.
    pub fn begin_batch(&mut self, now: Stamp) {
        self.now = now;
        // Only after a panic that was contained is there anything left.
        self.messages = None;
        self.context_id.clear();
        self.budget.reset();
    }

    /// Lets `f` print and decide in a correlation context: `${X}@1` and the functions over contexts see its
    /// messages, `$CONTEXT_ID` its id. The message printed for is as a rule the last of them.
    pub fn with_context<R>(
        &mut self,
        messages: &Arc<Batch>,
        id: &[u8],
        f: impl FnOnce(&mut RenderContext) -> R,
    ) -> R {
        let before = self.messages.replace(Arc::clone(messages));
        self.context_id.clear();
        self.context_id.extend_from_slice(id);
        let result = f(self);
        self.context_id.clear();
        self.messages = before;
        result
    }

    /// Whether the text that was printed last was larger than the limit and given up: nothing was appended,
    /// and it is counted.
    #[inline]
    pub fn gave_up(&self) -> bool {
        self.budget.is_refused()
    }

    pub fn now(&self) -> Stamp {
        self.now
    }

    #[inline]
    pub(crate) fn date(&mut self, date: &Date) -> &mut DateCache {
        let slot = date.slot as usize;
        if self.dates.len() <= slot {
            self.dates.resize(slot + 1, None);
        }
        self.dates[slot].get_or_insert_with(|| DateCache::new(date))
    }

    pub(crate) fn tag_name(&mut self, tag: TagId) -> &'static str {
        let index = tag.0 as usize;
        while self.tag_names.len() <= index {
            let name = tag_name(TagId(self.tag_names.len() as u32));
            if name.is_empty() {
                return name;
            }
            self.tag_names.push(name);
        }
        self.tag_names[index]
    }

    /// Buffers for arguments; give them back with [`RenderContext::put_back`], so that no message allocates.
    pub(crate) fn take_scratch(&mut self) -> Scratch {
        let mut scratch = self.scratch.pop().unwrap_or_default();
        scratch.text.clear();
        scratch.ends.clear();
        scratch
    }

    pub(crate) fn put_back(&mut self, scratch: Scratch) {
        self.scratch.push(scratch);
    }

    /// The next 64 random bits (splitmix64): for ids, not for secrets.
    pub fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// The standard library seeds its hash maps from the system's random numbers.
fn seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}
