//! The connections of one destination with `transport(rltp)`: to each of its servers as many as connections() says.

use super::{RltpSink, Stream, Wishes};
use crate::destinations::dialing::DialOptions;
use crate::destinations::single::{MakeSink, SingleDestination, alike};
use crate::destinations::target::Route;
use crate::writer::Writer;
use engine::QueueLimits;
use std::sync::Arc;
use template::Identity;

pub struct Lanes {
    /// The driver.
    pub name: &'static str,
    /// In the state file.
    pub key: String,
    pub port: u16,
    pub ipv6: bool,
    pub keep_alive: bool,
    pub limits: QueueLimits,
    pub options: Arc<DialOptions>,
    pub wishes: Wishes,
}

impl Lanes {
    /// `routes`: the servers of each group of connections, in the order in which they are tried. A group is a stream of its own.
    pub fn make(self, routes: &[Vec<String>], writer: Writer, identity: &Identity) -> Vec<SingleDestination> {
        let streams: Vec<Stream> = routes.iter().map(|_| Stream::default()).collect();
        let count = self.wishes.connections;
        let of_all = (0..routes.len()).flat_map(|group| (0..count).map(move |lane| (group, lane)));
        alike(of_all.collect(), writer, identity, |(group, lane): (usize, u16), writer| {
            let (route, stream) = (routes.get(group).cloned(), streams.get(group).cloned());
            self.lane(group, lane, (route.unwrap_or_default(), stream.unwrap_or_default()), writer)
        })
    }

    fn lane(
        &self,
        group: usize,
        lane: u16,
        (route, stream): (Vec<String>, Stream),
        writer: Writer,
    ) -> SingleDestination {
        let (port, ipv6, wishes, options) = (self.port, self.ipv6, self.wishes, Arc::clone(&self.options));
        let instance = format!("rltp,{}:{port}", route.first().map_or("", String::as_str));
        let known = stream.clone();
        let make: MakeSink = Box::new(move |place| {
            let route = Route::hosts(&route, port, ipv6);
            Box::new(RltpSink::new(place, route, Arc::clone(&options), wishes, (stream.clone(), lane)))
        });
        let mut made =
            SingleDestination::new((self.name, instance), writer, self.limits, self.keep_alive, make);
        made.part = match (group, lane) {
            (0, 0) => String::new(),
            (0, _) => format!("connection {}", lane + 1),
            _ => format!("{} connection {}", made.instance, lane + 1),
        };
        let key = if group == 0 { self.key.clone() } else { format!("{} server {}", self.key, group + 1) };
        made.prepare = Some(Box::new(move |shared| {
            known.recall(shared.state(), &key);
            Ok(())
        }));
        made
    }
}
