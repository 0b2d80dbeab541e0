//! Which requests are answered with statistics, and the message that each of them is.

use control::answer::answer;
use control::render::{Format, Pattern};
use http_server::{Answer, Handler, Head, Later, Request, header};
use intake::requests::{Desk, Ends, Fate, Filling, Load};
use parking_lot::Mutex;
use record::{Batch, Record, Span};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub struct Exporter {
    pub desk: Arc<Desk>,
    /// What the program is asked.
    pub request: control::request::Request,
    pub format: Format,
    /// For the first line of a request.
    pub pattern: Pattern,
    /// `scrape-freq-limit()`.
    pub pause: Duration,
    /// When statistics were answered last.
    pub last: Mutex<Option<Instant>>,
    /// The connection ends with its answer.
    pub closes: bool,
    /// Requests are messages.
    pub logs: bool,
}

impl Exporter {
    fn log(&self, head: &Head) {
        let ends = Ends { remote: head.remote, local: head.local, named: None };
        if self.logs && !self.desk.leave(Box::new(Scrape(text_of(head))), ends) {
            let text = "Requests of a scraper do not become messages, because earlier ones wait";
            oplog::warning(text, &[("client", &head.remote)]);
        }
    }

    /// Whether it is time for statistics again; if so, that has begun.
    fn is_time(&self, now: Instant) -> bool {
        let mut last = self.last.lock();
        let is_early = last.is_some_and(|last| now.saturating_duration_since(last) < self.pause);
        if !is_early {
            *last = Some(now);
        }
        !is_early
    }

    fn statistics(&self) -> Answer {
        let Some(subject) = control::running::subject() else {
            return Answer::text(503, "the program has not begun, or has ended");
        };
        let content_type = match self.format {
            Format::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Format::Csv | Format::Kv => "text/plain; charset=utf-8",
        };
        Answer::new(200, content_type, answer(&self.request, &*subject))
    }

    fn ended(&self, answer: Answer) -> Answer {
        if self.closes { answer.closing() } else { answer }
    }
}

impl Handler for Exporter {
    fn admit(&self, head: &Head) -> Result<(), Answer> {
        self.log(head);
        if !self.pattern.matches(&head.line()) {
            return Err(Answer::text(404, "there is nothing here").closing());
        }
        if !self.is_time(Instant::now()) {
            return Err(Answer::text(429, "the statistics have been told a moment ago").closing());
        }
        Ok(())
    }

    /// From the thread of this server, which has nothing else to do.
    fn answer(&self, _: Request) -> Later {
        Box::pin(std::future::ready(self.ended(self.statistics())))
    }
}

/// The first line and the headers, but for those that have secrets.
fn text_of(head: &Head) -> String {
    let mut text = head.line();
    for (name, value) in head.headers() {
        if matches!(*name, header::AUTHORIZATION | header::COOKIE | header::PROXY_AUTHORIZATION) {
            continue;
        }
        text.push_str(&format!("\n{name}: {}", String::from_utf8_lossy(value.as_bytes())));
    }
    text
}

/// The message of a request.
struct Scrape(String);

impl Load for Scrape {
    fn fill(&mut self, batch: &mut Batch, filling: &Filling<'_>) -> bool {
        let mut record = Record::new(Span::EMPTY);
        record.message = batch.append(self.0.as_bytes()).set();
        record.host = batch.append(filling.sender.as_bytes());
        record.stamp = filling.now;
        record.origin = batch.records.len() as u32;
        batch.records.push(record);
        false
    }

    fn taken(&mut self) -> Option<Answer> {
        None
    }

    /// Nobody hears it: the scraper has its answer.
    fn settled(self: Box<Self>, _: Fate) -> Answer {
        Answer::text(200, "logged")
    }
}
