//! `/metrics`: every counter of the program's catalogue, in the format that the scraper takes.

use crate::looks::said;
use control::Subject;
use control::counters::State;
use control::render::Exposition;
use http_server::{Answer, Head, header};

pub fn answer(head: &Head, subject: &dyn Subject) -> Answer {
    let accept: Vec<&str> =
        head.headers().get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let form = Exposition::accepted(&accept.join(","));
    let mut counters = subject.counters();
    // What a reload has removed is a series that has ended.
    counters.retain(|counter| counter.state != State::Orphaned);
    Answer::new(200, form.content_type(), said(&form.render(&counters, &[])))
}
