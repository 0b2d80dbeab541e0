//! The connections of one destination with `transport(rltp)`: to each of its servers as many as connections()
//! says.

use super::identity::Stream;
use super::{RltpSink, Wishes};
use delivery::dialing::DialOptions;
use delivery::disk_buffer;
use delivery::single::{MakeSink, SingleDestination, alike};
use delivery::target::Route;
use delivery::writer::Writer;
use engine::{DiskBuffer, QueueLimits};
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

/// One of the connections.
struct At<'a> {
    /// The servers it may go to, in the order in which they are tried.
    route: &'a [String],
    /// Its number among those groups of connections that are streams of their own, and in its group.
    group: usize,
    lane: u16,
}

impl Lanes {
    /// `routes`: the servers of each group of connections, in the order in which they are tried. A group is a
    /// stream of its own.
    pub fn make(self, routes: &[Vec<String>], writer: Writer, identity: &Identity) -> Vec<SingleDestination> {
        let count = self.wishes.connections;
        let of = |(group, route)| (0..count).map(move |lane| At { route, group, lane });
        let of_all = routes.iter().map(Vec::as_slice).enumerate().flat_map(of).collect();
        let on_disk = disk_buffer::of(&writer);
        alike(of_all, writer, identity, |at, writer| self.lane(&at, on_disk.clone(), writer))
    }

    fn lane(&self, at: &At<'_>, on_disk: Option<Arc<DiskBuffer>>, writer: Writer) -> SingleDestination {
        let At { group, lane, .. } = *at;
        let (route, stream) = (at.route.to_vec(), Stream::default());
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
        let part = made.part.clone();
        made.prepare = Some(Box::new(move |shared| {
            let numbering =
                on_disk.as_ref().map(|options| disk_buffer::numbering(shared, options, part.as_bytes()));
            known.recall(shared.state(), &key, lane, numbering.transpose()?);
            Ok(())
        }));
        made
    }
}
