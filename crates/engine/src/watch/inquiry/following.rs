//! The messages of a batch that somebody asks about, and what is remembered of each on its way.

use super::kept::kept;
use super::{
    EVENTS_MAX, Event, FOLLOWED_MAX, Happened, Inquiry, Looks, OPEN, OPEN_COUNT, Story, TEXT_BYTES_MAX, Told,
    fitting,
};
use crate::plan_map::StepId;
use crate::receipt::Receipt;
use crate::source::Source;
use crate::watch::{Message, Sight, Statement, Watch};
use filter::FilterContext;
use record::{Batch, Peer, Record};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Follows messages of one batch for those who asked.
pub(crate) struct Following {
    /// In the order of their places in the batch: of a large batch few messages are followed, and each event
    /// of each message asks whether it is one of them.
    followed: Vec<Followed>,
    /// Of a rehearsal, which follows messages that parsers make of others too.
    looks: Option<Looks>,
    began: Instant,
}

struct Followed {
    /// Which message of the batch.
    origin: u32,
    began: Instant,
    story: Story,
    is_routed: bool,
    /// It came by where somebody looks.
    is_seen: bool,
    /// Its story has been told.
    is_told: bool,
    /// None: its story stays in [`Following`].
    inquiry: Option<Arc<Inquiry>>,
}

impl Following {
    /// `None` when nobody asks about a message of this batch. `makes`: its log paths may make more messages,
    /// of which somebody may ask.
    #[inline]
    pub fn of(source: &Source, batch: &mut Batch, makes: bool, cx: &mut FilterContext) -> Option<Following> {
        match OPEN_COUNT.load(Ordering::Relaxed) {
            0 => None,
            _ => Following::asked(source, batch, makes, cx),
        }
    }

    /// Nothing that came in is followed.
    pub fn is_empty(&self) -> bool {
        self.followed.is_empty()
    }

    #[cold]
    fn asked(source: &Source, batch: &mut Batch, makes: bool, cx: &mut FilterContext) -> Option<Following> {
        let mut following = Following { followed: Vec::new(), looks: None, began: Instant::now() };
        let open: Vec<Arc<Inquiry>> = OPEN.lock().clone();
        for inquiry in open.iter().filter(|i| i.wants_source(source) && !i.is_resting(Instant::now())) {
            let left = inquiry.asked.count.saturating_sub(inquiry.found.lock().len());
            let is_searched = inquiry.asked.is_lost || inquiry.asked.looks.is_some();
            let room = if is_searched { FOLLOWED_MAX } else { left.min(FOLLOWED_MAX) };
            if left == 0 {
                continue;
            }
            let fits = fitting::of(inquiry, batch, cx);
            for record in fits.iter().take(room).filter_map(|index| batch.records.get(*index as usize)) {
                following.add(source, batch, record, Some(Arc::clone(inquiry)));
            }
        }
        // What is made may come in at internal().
        let asks_made = makes && open.iter().any(|inquiry| inquiry.asked.looks.is_none());
        (asks_made || !following.followed.is_empty()).then_some(following)
    }

    /// Follows every message of a batch, and those made on the way, for their own sake.
    pub fn all(source: &Source, batch: &Batch, looks: &Looks) -> Following {
        let looks = Some(looks.clone());
        let mut following = Following { followed: Vec::new(), looks, began: Instant::now() };
        batch.records.iter().for_each(|record| following.add(source, batch, record, None));
        following
    }

    /// Follows one message.
    fn add(&mut self, source: &Source, batch: &Batch, record: &Record, inquiry: Option<Arc<Inquiry>>) {
        let peer = batch.context(record).map(|context| context.peer.clone()).unwrap_or_default();
        let mut followed = Followed::new(source, record.origin, peer, inquiry);
        followed.story.came = Some(batch.received);
        self.put(followed);
    }

    fn put(&mut self, followed: Followed) {
        let at = self.followed.partition_point(|other| other.origin <= followed.origin);
        self.followed.insert(at, followed);
    }

    /// Those that follow the message of this place.
    fn places_of(&self, origin: u32) -> Range<usize> {
        let from = self.followed.partition_point(|followed| followed.origin < origin);
        let those = self.followed.iter().skip(from).take_while(|followed| followed.origin == origin);
        from..from + those.count()
    }

    fn those_of(&mut self, origin: u32) -> &mut [Followed] {
        let places = self.places_of(origin);
        self.followed.get_mut(places).unwrap_or_default()
    }

    /// What was followed for its own sake, what was made behind what came in.
    pub fn stories(mut self) -> Vec<Story> {
        std::mem::take(&mut self.followed).into_iter().map(|followed| followed.story).collect()
    }
}

impl Watch for Following {
    fn see(&mut self, source: &Source, message: Message, event: &Event<'_>) {
        let origin = message.place_in_batch();
        let comes_in = self.looks.is_some() && matches!(event, Event::Received(_));
        if comes_in && self.places_of(origin).is_empty() {
            self.put(Followed::new(source, origin, Peer::default(), None));
        }
        let bytes_max = self.looks.as_ref().map_or(TEXT_BYTES_MAX, |looks| looks.bytes_max);
        for followed in self.those_of(origin) {
            if matches!(event, Event::Finished) {
                followed.finish();
            } else {
                followed.note(message, event, bytes_max);
            }
        }
    }

    fn wants_changes(&self, message: Message) -> bool {
        let those = self.followed.get(self.places_of(message.place_in_batch())).unwrap_or_default();
        those.iter().any(|followed| followed.looks().is_none())
    }

    fn follows(&mut self, source: &Source, batch: &Batch, record: &Record, cx: &mut FilterContext) -> bool {
        if self.looks.is_some() {
            return true;
        }
        let open: Vec<Arc<Inquiry>> = OPEN.lock().clone();
        for inquiry in open.into_iter().filter(|inquiry| inquiry.asks_made(source)) {
            // Each question has room of its own.
            let is_of = |followed: &&Followed| {
                followed.inquiry.as_ref().is_some_and(|other| Arc::ptr_eq(other, &inquiry))
            };
            let has_room = self.followed.iter().filter(is_of).count() < FOLLOWED_MAX
                && inquiry.found.lock().len() < inquiry.asked.count;
            if has_room && fitting::fits(&inquiry.asked, batch, record, cx) {
                let peer = batch.context(record).map(|context| context.peer.clone()).unwrap_or_default();
                self.put(Followed::new(source, record.origin, peer, Some(inquiry)));
            }
        }
        !self.places_of(record.origin).is_empty()
    }

    fn look(&mut self, message: Message, sight: &mut Sight<'_>) {
        let origin = message.place_in_batch();
        let own = self.looks.take();
        for followed in self.those_of(origin) {
            let asked = followed.looks().or(own.as_ref());
            let Some((texts, tags)) = asked.and_then(|looks| looks.at(sight)) else { continue };
            let step = Some((sight.at.id, sight.at.statement.clone()));
            followed.is_seen = true;
            followed.keep(step, Happened::Is { texts, tags });
        }
        self.looks = own;
    }
}

impl Drop for Following {
    /// Whoever looks in passing rests for a multiple of the time that this batch has cost, once.
    fn drop(&mut self) {
        let took = self.began.elapsed();
        let mut rested: Vec<&Arc<Inquiry>> = Vec::new();
        for inquiry in self.followed.iter().filter_map(|followed| followed.inquiry.as_ref()) {
            if !rested.iter().any(|other| Arc::ptr_eq(other, inquiry)) {
                inquiry.rest(self.began, took);
                rested.push(inquiry);
            }
        }
    }
}

impl Followed {
    fn new(source: &Source, origin: u32, peer: Peer, inquiry: Option<Arc<Inquiry>>) -> Followed {
        let story = Story {
            source: source.id.clone(),
            instance: format!("{} {}", source.driver, source.instance).trim_end().to_owned(),
            peer,
            received: 0,
            came: None,
            told: Vec::new(),
            is_cut: false,
        };
        Followed {
            origin,
            began: Instant::now(),
            story,
            is_routed: false,
            is_seen: false,
            is_told: false,
            inquiry,
        }
    }

    fn note(&mut self, message: Message, event: &Event<'_>, bytes_max: usize) {
        if matches!(event, Event::Received(_)) && self.story.told.is_empty() {
            self.began = Instant::now();
        }
        self.story.received = message.received;
        if let Event::Queued { receipt, .. } = event {
            self.is_routed = true;
            // Who looks in passing does not ask what becomes of messages.
            if self.inquiry.is_some() && self.looks().is_none() {
                receipt.get_or_init(Receipt::new);
            }
        }
        if self.looks().is_some_and(|looks| !looks.shows(event)) {
            return;
        }
        let Some((step, what)) = kept(event, bytes_max) else { return };
        self.keep(step.map(|at| (at.id, at.statement.clone())), what);
    }

    /// What somebody looks at in passing, who wants nothing else of it.
    fn looks(&self) -> Option<&Looks> {
        self.inquiry.as_ref().and_then(|inquiry| inquiry.asked.looks.as_ref())
    }

    fn keep(&mut self, step: Option<(StepId, Statement)>, what: Happened) {
        if self.story.told.len() >= EVENTS_MAX {
            self.story.is_cut = true;
            return;
        }
        self.story.told.push(Told { after: self.began.elapsed(), step, what });
    }

    fn finish(&mut self) {
        let Some(inquiry) = &self.inquiry else { return };
        let is_meant = inquiry.asked.looks.is_none() || self.is_seen;
        if is_meant && !(inquiry.asked.is_lost && self.is_routed) && !self.is_told {
            let told = std::mem::take(&mut self.story.told);
            inquiry.take(Story { told, ..self.story.clone() });
        }
        self.is_told = true;
    }
}
