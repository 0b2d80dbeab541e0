//! Gives each request to whoever answers it, with what browsers are to know about every answer.

use crate::access::{Resource, admit, shows_token};
use crate::health::{self, Latest, Question};
use crate::looks;
use crate::metrics;
use crate::options::Options;
use crate::sampler::Sampler;
use control::queues::QueueRequest;
use control::request::Reload;
use control::{Refusal, Subject};
use http_server::{Answer, Handler, Head, Later, Query, Request, header};
use serde_json::json;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The page: nothing of it comes from anywhere else.
const PAGE: &str = include_str!("page/console.html");
const ICON: &str = include_str!("page/icon.svg");
const STYLE: &str = include_str!("page/console.css");
/// Its parts are one script: they share what they know.
const SCRIPT: &str = concat!(
    include_str!("page/console.js"),
    include_str!("page/graph.js"),
    include_str!("page/panel.js"),
    include_str!("page/views.js"),
    include_str!("page/story.js"),
    include_str!("page/change.js"),
    include_str!("page/begin.js"),
);
/// The longest trial that may be asked for.
const TRIAL_MAX: u64 = 600;

pub struct Pages {
    options: Options,
    subject: Arc<dyn Subject>,
    health: Arc<Latest>,
    sampler: Sampler,
}

impl Pages {
    pub fn new(options: Options, subject: Arc<dyn Subject>) -> io::Result<Pages> {
        let sampler = Sampler::start(Arc::clone(&subject))?;
        Ok(Pages { options, subject, health: Arc::default(), sampler })
    }

    fn health(&self, head: &Head, question: Question) -> Later {
        let with_reasons = shows_token(head, &self.options);
        let (latest, subject) = (Arc::clone(&self.health), Arc::clone(&self.subject));
        later(move || health::answer(&latest.get(&*subject), question, with_reasons))
    }

    fn look(&self, place: Resource, head: Head) -> Later {
        let subject = Arc::clone(&self.subject);
        later(move || match place {
            Resource::Configuration => looks::configuration(head.query(), &*subject),
            Resource::Dropped => looks::dropped(head.query(), &*subject),
            Resource::Next => looks::next(head.query(), &*subject),
            Resource::Rehearse => looks::rehearse(head.query(), &*subject),
            Resource::Tap => looks::tap(head.query(), &*subject),
            Resource::Difference => looks::difference(&*subject),
            Resource::DeadLetters => looks::dead_letters(&*subject),
            _ => looks::queues(&*subject),
        })
    }

    fn events(&self) -> Answer {
        match self.sampler.watch() {
            Some(pieces) => Answer::pieces("text/event-stream", pieces),
            None => Answer::text(503, "too many streams are open"),
        }
    }

    fn reload(&self, query: Query<'_>) -> Later {
        // Who writes another name means a trial all the same.
        let is_known = query.pairs().all(|(name, _)| name == b"trial");
        let trial = match looks::number(query, "trial") {
            _ if !is_known => {
                return at_once(Answer::text(422, "only trial may be said: nothing was reloaded"));
            }
            Ok(trial) => trial.map(|seconds| Duration::from_secs(seconds.min(TRIAL_MAX))),
            Err(why) => return at_once(Answer::text(422, &format!("{why}: nothing was reloaded"))),
        };
        self.control(move |subject| subject.reload(&Reload { trial, drops: Vec::new() }))
    }

    /// Something is changed; both outcomes are sentences.
    fn control(&self, work: impl FnOnce(&dyn Subject) -> Result<String, Refusal> + Send + 'static) -> Later {
        let subject = Arc::clone(&self.subject);
        later(move || match work(&*subject) {
            Ok(text) => Answer::text(200, &looks::said(&text)),
            Err(refusal) => Answer::text(409, &looks::said(refusal.said())),
        })
    }

    /// What the page may offer.
    fn allowed(&self) -> Answer {
        let Options { allow_control, show_messages, .. } = &self.options;
        let allowed = json!({ "version": 1, "control": allow_control, "messages": show_messages });
        Answer::json(200, allowed.to_string())
    }
}

/// What takes its time, away from the thread that serves.
fn later(work: impl FnOnce() -> Answer + Send + 'static) -> Later {
    Box::pin(async move {
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|_| Answer::text(500, "an internal error, contained"))
    })
}

fn at_once(answer: Answer) -> Later {
    Box::pin(std::future::ready(answer))
}

impl Handler for Pages {
    fn admit(&self, head: &Head) -> Result<(), Answer> {
        admit(head, &self.options).map_err(guarded)
    }

    fn answer(&self, request: Request) -> Later {
        let head = &request.head;
        let even_degraded = self.options.degraded_is_ready;
        let later = match Resource::of(head.path()) {
            None => at_once(Answer::text(404, "there is nothing here")),
            Some(Resource::Metrics) => {
                let subject = Arc::clone(&self.subject);
                let head = request.head;
                later(move || metrics::answer(&head, &*subject))
            }
            Some(Resource::Healthz) => self.health(head, Question::Health),
            Some(Resource::Readyz) => self.health(head, Question::Ready { even_degraded }),
            Some(Resource::Ledger) => {
                let subject = Arc::clone(&self.subject);
                later(move || Answer::json(200, looks::said(&(subject.ledger().to_json() + "\n"))))
            }
            Some(Resource::Graph) => at_once(Answer::json(200, looks::said(&(self.subject.graph() + "\n")))),
            Some(Resource::Events) => at_once(self.events()),
            Some(Resource::Reload) => self.reload(head.query()),
            Some(Resource::RollBack) => self.control(|subject| subject.roll_back()),
            Some(Resource::SendAgain) => {
                self.control(|subject| subject.queue(&QueueRequest::Replay { to: None }))
            }
            Some(Resource::Allowed) => at_once(self.allowed()),
            Some(Resource::Page) => at_once(Answer::new(200, "text/html; charset=utf-8", PAGE)),
            Some(Resource::Style) => at_once(Answer::new(200, "text/css; charset=utf-8", STYLE)),
            Some(Resource::Script) => at_once(Answer::new(200, "text/javascript; charset=utf-8", SCRIPT)),
            Some(Resource::Icon) => at_once(Answer::new(200, "image/svg+xml", ICON)),
            Some(Resource::History) => {
                let said = |name: &str| head.query().get(name).unwrap_or_default();
                let history = self.sampler.history(&said("kind"), &said("name"));
                at_once(Answer::json(200, looks::said(&history.to_string())))
            }
            Some(Resource::Log) => at_once(looks::log()),
            Some(
                place @ (Resource::Configuration
                | Resource::Dropped
                | Resource::Next
                | Resource::Rehearse
                | Resource::Tap
                | Resource::Difference
                | Resource::DeadLetters
                | Resource::Queues),
            ) => self.look(place, request.head),
        };
        Box::pin(async move { guarded(later.await) })
    }
}

/// Nothing is kept, shown in a frame, or taken from anywhere else.
fn guarded(answer: Answer) -> Answer {
    const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                          base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    answer
        .with(header::CONTENT_SECURITY_POLICY, POLICY)
        .with(header::X_FRAME_OPTIONS, "DENY")
        .with(header::REFERRER_POLICY, "no-referrer")
        .with(header::CACHE_CONTROL, "no-store")
        .with_named("cross-origin-resource-policy", "same-origin")
        .with_named("cross-origin-opener-policy", "same-origin")
}
