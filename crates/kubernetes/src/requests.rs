//! Requests to the API server: what is asked for, and the token, which is read anew for each.

use crate::server::ApiServer;
use crate::trouble::{Kind, Trouble};
use http_client::header::{ACCEPT, AUTHORIZATION, USER_AGENT};
use http_client::{
    Answer, Caller, Failure, HeaderMap, HeaderValue, Method, Network, Question, Streamed, percent_encoded,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What is read of a file with a token.
const TOKEN_BYTES_MAX: u64 = 64 << 10;
/// A server that has said nothing for so long will not.
pub const ANSWER_MAX: Duration = Duration::from_secs(30);
/// Pods of one page of a list.
const PAGE_PODS: usize = 500;

pub struct Requests {
    place: Arc<ApiServer>,
    caller: Caller,
}

impl Requests {
    pub fn new(place: &Arc<ApiServer>, network: &Arc<Network>) -> Requests {
        let caller = Caller::new(Arc::clone(network), place.url.clone());
        Requests { place: Arc::clone(place), caller }
    }

    /// A page of the node's pods, the first one without `next`. `is_cheap`: as the server has them at hand,
    /// which may be a moment old.
    pub async fn list(&mut self, node: &str, is_cheap: bool, next: &str) -> Result<Answer, Trouble> {
        let mut target =
            format!("/api/v1/pods?fieldSelector=spec.nodeName%3D{}&limit={PAGE_PODS}", percent_encoded(node));
        if !next.is_empty() {
            target.push_str("&continue=");
            target.push_str(&percent_encoded(next));
        } else if is_cheap {
            target.push_str("&resourceVersion=0");
        }
        self.ask(&target).await
    }

    /// What happens to the node's pods behind a version, for so many seconds.
    pub async fn watch(&self, node: &str, version: &str, seconds: u64) -> Result<Streamed, Trouble> {
        let target = format!(
            "/api/v1/pods?watch=1&allowWatchBookmarks=true&fieldSelector=spec.nodeName%3D{}&resourceVersion={}&timeoutSeconds={seconds}",
            percent_encoded(node),
            percent_encoded(version)
        );
        self.caller.listen(&self.question(&target).await?, ANSWER_MAX).await.map_err(failed)
    }

    pub async fn pod(&mut self, namespace: &str, name: &str) -> Result<Answer, Trouble> {
        self.ask(&format!("/api/v1/namespaces/{}/pods/{}", percent_encoded(namespace), percent_encoded(name)))
            .await
    }

    async fn ask(&mut self, target: &str) -> Result<Answer, Trouble> {
        let question = self.question(target).await?;
        let answer = self.caller.ask(&question, ANSWER_MAX).await.map_err(failed)?;
        match answer.is_whole {
            true => Ok(answer),
            false => Err(Trouble::other("the answer is cut off, or too large")),
        }
    }

    async fn question(&self, target: &str) -> Result<Question, Trouble> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("penstock/", env!("CARGO_PKG_VERSION"))));
        if let Some(path) = &self.place.token_file {
            headers.insert(AUTHORIZATION, bearer(path.clone()).await?);
        }
        let target = format!("{}{target}", self.place.url.path);
        Ok(Question { method: Method::GET, target, headers, body: Default::default() })
    }
}

/// The token as it is now: kubelets replace it long before it ends.
async fn bearer(path: PathBuf) -> Result<HeaderValue, Trouble> {
    let shown = path.display().to_string();
    let wrong = |why: &dyn std::fmt::Display| Trouble {
        kind: Kind::Token,
        words: format!("the token cannot be read from {shown}: {why}"),
    };
    let read = tokio::task::spawn_blocking(move || regular::read_to_string(&path, TOKEN_BYTES_MAX)).await;
    let token = read.map_err(|error| wrong(&error))?.map_err(|error| wrong(&error))?;
    let mut value =
        HeaderValue::from_str(&format!("Bearer {}", token.trim())).map_err(|error| wrong(&error))?;
    value.set_sensitive(true);
    Ok(value)
}

fn failed(failure: Failure) -> Trouble {
    match failure {
        Failure::Away(why) | Failure::Unknown(why) => Trouble::other(why),
        Failure::Stale => Trouble::other("the server hung up"),
    }
}
