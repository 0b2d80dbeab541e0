//! How far the messages on disk are delivered.

use super::Spool;
use super::span::{Finished, Span};

impl Spool {
    /// The sink has finished so many messages from the front, and still answers for the last `unsettled` of
    /// all it has finished.
    pub fn finished(&mut self, messages: usize, bytes: usize, unsettled: usize) {
        let mut finished = Finished { messages, ..Finished::default() };
        let (mut left, mut left_bytes) = (messages, bytes);
        while left > 0
            && let Some(span) = self.spans.front_mut()
        {
            let n = left.min(span.messages);
            let taken = if n == span.messages { span.bytes } else { left_bytes.min(span.bytes) };
            span.take(n, taken, &mut finished);
            left -= n;
            left_bytes = left_bytes.saturating_sub(taken);
            if span.messages == 0 {
                self.spans.pop_front();
            }
        }
        finished.bare = left;
        self.stored = self.stored.saturating_sub(messages - left);
        self.ahead.finished(bytes, bytes - left_bytes);
        self.finished_messages += messages;
        self.finished.push_back(finished);
        self.settle(unsettled);
    }

    /// Moves the cursor on the disk to what the sink does not answer for any more.
    pub fn settle(&mut self, unsettled: usize) {
        let mut done = Finished::default();
        while let Some(first) = self.finished.front()
            && self.finished_messages - first.messages >= unsettled
        {
            self.finished_messages -= first.messages;
            done.add(first);
            self.finished.pop_front();
        }
        self.note_done(&done);
    }

    pub(super) fn note_done(&mut self, done: &Finished) {
        let (Some(queue), Some(next)) = (self.disk.queue(), done.next) else {
            return;
        };
        queue.done(next, done.stored as u64, done.bytes as u64);
        let all = self.finished.is_empty() && self.spans.front().is_none_or(Span::is_whole);
        self.ahead.told(done.bytes, all);
        if self.reserved.is_empty() {
            return;
        }
        let scarce = self.is_scarce(0);
        while self.reserved.front().is_some_and(|(end, _)| !scarce || *end <= next) {
            if let Some((_, mut tickets)) = self.reserved.pop_front() {
                tickets.settle();
            }
        }
    }

    /// Messages at the front of the memory part that are on disk too, with numbers before `until`.
    pub fn stored_before(&self, until: u64) -> usize {
        let mut count = 0;
        for span in &self.spans {
            match span.before(self.queue(), until) {
                Some(part) => return count + part,
                None => count += span.messages,
            }
        }
        count
    }

    /// Whether there are such messages on disk only.
    pub fn has_unread_before(&self, until: u64) -> bool {
        self.spans.is_empty() && self.disk.behind().is_some_and(|behind| behind.next() < until)
    }
}
