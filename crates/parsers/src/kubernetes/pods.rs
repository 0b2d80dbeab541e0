//! Pods as parsers see them, and whoever knows them: a client of the API server stands above this crate, and
//! [`provide`] tells where.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// A pod as the API server describes it, as far as messages want it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pod {
    pub namespace: Box<str>,
    pub name: Box<str>,
    pub uid: Box<str>,
    pub labels: Vec<(Box<str>, Box<str>)>,
    pub annotations: Vec<(Box<str>, Box<str>)>,
    pub containers: Vec<Container>,
}

/// What is not known of a container is empty: before it runs it has no id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Container {
    pub name: Box<str>,
    pub image: Box<str>,
    /// The image by its digest.
    pub hash: Box<str>,
    /// As the runtime calls it, 64 digits.
    pub id: Box<str>,
}

/// Which pod is meant: what the name of a container's log says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted<'a> {
    pub namespace: &'a str,
    pub pod: &'a str,
    pub container: &'a str,
    /// Tells pods apart that had one name after another.
    pub uid: Option<&'a str>,
    /// Of the container.
    pub id: Option<&'a str>,
}

/// What is known of a pod now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodState {
    Known(Arc<Pod>),
    /// There is none of this name.
    Absent,
    /// It may be known in a moment.
    NotYet,
}

/// Called when what was not known is.
pub type Wake = Box<dyn FnOnce() + Send>;

/// Whoever knows the pods of a cluster. No call waits.
pub trait Pods: Send + Sync {
    /// What is known. What is not, is asked for.
    fn find(&self, wanted: &Wanted<'_>) -> PodState;

    /// Calls `wake` when a pod is known that was [`PodState::NotYet`]; never, where that is too much to keep.
    fn when_known(&self, wanted: &Wanted<'_>, wake: Wake);

    /// Messages that got what is known of their pod, and messages that went on without.
    fn count(&self, with: u64, without: u64);
}

/// Which API server is meant, and how it is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Server {
    /// `None`: that of the cluster the program runs in.
    pub url: Option<String>,
    pub token_file: Option<PathBuf>,
    pub ca_file: Option<PathBuf>,
    /// The node whose pods are followed; `None`: that of NODE_NAME, or each pod is asked for alone.
    pub node: Option<String>,
}

/// What is wrong with a server's options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    pub option: &'static str,
    pub text: String,
    pub help: String,
}

/// The pods of a server; `None` where none is named and the program runs in no cluster.
pub type Provider = fn(&Server) -> Result<Option<Arc<dyn Pods>>, Wrong>;

static PROVIDER: OnceLock<Provider> = OnceLock::new();

/// Says who knows pods; once, before the first configuration is read.
pub fn provide(provider: Provider) {
    // The second call has the same to say.
    let _ = PROVIDER.set(provider);
}

pub(super) fn open(server: &Server) -> Result<Option<Arc<dyn Pods>>, Wrong> {
    match PROVIDER.get() {
        Some(provider) => provider(server),
        None if server.url.is_none() || cfg!(test) => Ok(None),
        None => Err(Wrong {
            option: "url",
            text: "this program is built without a client of Kubernetes".to_owned(),
            help: "build it with the feature `kubernetes`, or leave url() out".to_owned(),
        }),
    }
}
