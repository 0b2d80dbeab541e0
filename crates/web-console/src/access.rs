//! Who may ask for what: places, methods, tokens, and pages of somebody else.

use crate::options::Options;
use http_server::{Answer, Head, Method, header, same_secret};

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Metrics,
    Healthz,
    Readyz,
    Ledger,
    Graph,
    Events,
    Reload,
    RollBack,
    SendAgain,
    Page,
    Style,
    Script,
    Icon,
    History,
    Configuration,
    Dropped,
    Next,
    Rehearse,
    Queues,
    Log,
    Allowed,
    Difference,
    DeadLetters,
    Tap,
}

const PLACES: &[(&str, Resource)] = &[
    ("/metrics", Resource::Metrics),
    ("/healthz", Resource::Healthz),
    ("/readyz", Resource::Readyz),
    ("/ledger.json", Resource::Ledger),
    ("/graph.json", Resource::Graph),
    ("/events", Resource::Events),
    ("/control/reload", Resource::Reload),
    ("/control/roll-back", Resource::RollBack),
    ("/control/dead-letters", Resource::SendAgain),
    ("/", Resource::Page),
    ("/console.css", Resource::Style),
    ("/console.js", Resource::Script),
    ("/icon.svg", Resource::Icon),
    ("/history.json", Resource::History),
    ("/configuration.json", Resource::Configuration),
    ("/dropped.json", Resource::Dropped),
    ("/next.json", Resource::Next),
    ("/rehearse.json", Resource::Rehearse),
    ("/queues.json", Resource::Queues),
    ("/log.json", Resource::Log),
    ("/allowed.json", Resource::Allowed),
    ("/difference.json", Resource::Difference),
    ("/dead-letters.json", Resource::DeadLetters),
    ("/tap.json", Resource::Tap),
];

impl Resource {
    /// The path as it came: nothing is decoded, nothing is looked up anywhere else.
    pub fn of(path: &str) -> Option<Resource> {
        PLACES.iter().find(|(known, _)| *known == path).map(|(_, place)| *place)
    }

    fn changes_something(self) -> bool {
        matches!(self, Resource::Reload | Resource::RollBack | Resource::SendAgain)
    }

    /// Says something to whoever does not show the token.
    fn is_open(self) -> bool {
        matches!(
            self,
            Resource::Healthz
                | Resource::Readyz
                | Resource::Page
                | Resource::Style
                | Resource::Script
                | Resource::Icon
        )
    }

    /// Shows messages, or lines of the configuration.
    fn shows_texts(self) -> bool {
        matches!(
            self,
            Resource::Configuration
                | Resource::Dropped
                | Resource::Next
                | Resource::Rehearse
                | Resource::Log
                | Resource::Difference
                | Resource::DeadLetters
                | Resource::Tap
        )
    }
}

/// The refusal of a request that may not be made.
pub fn admit(head: &Head, options: &Options) -> Result<(), Answer> {
    let place = Resource::of(head.path()).ok_or_else(|| Answer::text(404, "there is nothing here"))?;
    let (wanted, allowed) = match place.changes_something() {
        true => (*head.method() == Method::POST, "POST"),
        false => (matches!(*head.method(), Method::GET | Method::HEAD), "GET, HEAD"),
    };
    if !wanted {
        return Err(Answer::text(405, "not with this method").with(header::ALLOW, allowed));
    }
    if is_from_elsewhere(head) {
        return Err(Answer::text(403, "pages of others may not ask here"));
    }
    if !place.is_open() && !shows_token(head, options) {
        let refusal = Answer::text(401, "show the token: `Authorization: Bearer TOKEN`");
        return Err(refusal.with(header::WWW_AUTHENTICATE, "Bearer realm=\"penstock\""));
    }
    if place.shows_texts() && !options.show_messages {
        return Err(Answer::text(403, "messages are shown with show-messages(yes), or with token()"));
    }
    if place.changes_something() {
        if !options.allow_control {
            return Err(Answer::text(403, "nothing can be changed here without allow-control(yes)"));
        }
        // No page of another site can send it without being asked first.
        if head.last("x-penstock").is_none() {
            return Err(Answer::text(403, "a request that changes something has the header `X-Penstock`"));
        }
    }
    Ok(())
}

/// The token, where there is one, is there and right.
pub fn shows_token(head: &Head, options: &Options) -> bool {
    let Some(token) = &options.token else { return true };
    head.authorization().is_some_and(|(scheme, shown)| {
        scheme.eq_ignore_ascii_case("bearer") && same_secret(shown.as_bytes(), token.as_bytes())
    })
}

/// A browser says that a page of another site asks.
fn is_from_elsewhere(head: &Head) -> bool {
    let site = head.last("sec-fetch-site").unwrap_or("none");
    let is_other = !matches!(site, "none" | "same-origin");
    let is_navigation = head.last("sec-fetch-mode") == Some("navigate");
    let host = head.header(header::HOST).unwrap_or_default();
    let origin = head.last("origin").and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    (is_other && !is_navigation)
        || origin.is_some_and(|origin| origin != host)
        || head.last("origin") == Some("null")
}
