//! Where documents go, as the configuration says it.

use mongodb::options::{Acknowledgment, ConnectionString, HostInfo};
use std::time::Duration;

/// An insert that is not answered within this time, when the address does not say.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// The address of the servers, understood.
#[derive(Clone, Debug)]
pub struct Deployment {
    pub(crate) address: ConnectionString,
    pub database: String,
    /// An insert that is not answered within this time may have been done or not.
    pub answer_max: Duration,
    /// Names and ports of the servers, for the log.
    pub hosts: String,
}

/// What the servers have to do before an insert counts as done: `w`, `j`, `wtimeout`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Concern {
    pub nodes: Option<Nodes>,
    pub journal: Option<bool>,
    pub timeout: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nodes {
    Count(u32),
    /// `majority`, or a tag of the servers' own.
    Named(String),
}

#[derive(Clone, Debug)]
pub struct Target {
    pub place: Deployment,
    pub concern: Concern,
    /// Documents behind one that is refused are tried all the same.
    pub unordered: bool,
    pub bypass_validation: bool,
}

impl Deployment {
    /// Understands an address, `mongodb://...`; the error says what is wrong with it.
    pub fn parse(uri: &str) -> Result<Deployment, String> {
        if uri.starts_with("mongodb+srv:") {
            return Err("names of servers are not looked up in SRV records".to_owned());
        }
        let mut address = ConnectionString::parse(uri).map_err(|error| error.kind.to_string())?;
        // The library refuses it: it is kept here.
        #[allow(deprecated)]
        let answer_max = address.socket_timeout.take();
        let database = address.default_database.clone().ok_or("it does not name a database")?;
        Ok(Deployment {
            hosts: hosts(&address.host_info),
            address,
            database,
            answer_max: answer_max.filter(|time| !time.is_zero()).unwrap_or(ANSWER_MAX),
        })
    }

    /// What the address says of the write concern.
    pub fn concern(&self) -> Concern {
        let Some(said) = &self.address.write_concern else { return Concern::default() };
        Concern {
            nodes: said.w.as_ref().map(|w| match w {
                Acknowledgment::Nodes(count) => Nodes::Count(*count),
                Acknowledgment::Custom(name) => Nodes::Named(name.clone()),
                _ => Nodes::Named("majority".to_owned()),
            }),
            journal: said.journal,
            timeout: said.w_timeout,
        }
    }
}

fn hosts(info: &HostInfo) -> String {
    match info {
        HostInfo::HostIdentifiers(hosts) => {
            hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
        }
        _ => String::new(),
    }
}

impl Concern {
    /// `write-concern()`: `unacked`, `acked`, `majority`, a number; `None` when it is none of them.
    pub fn nodes(word: &str) -> Option<Nodes> {
        match word {
            "unacked" => Some(Nodes::Count(0)),
            "acked" => Some(Nodes::Count(1)),
            "majority" => Some(Nodes::Named("majority".to_owned())),
            number => number.parse().ok().filter(|count| *count <= 50).map(Nodes::Count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let place = Deployment::parse("mongodb://u:p%40@a:1,b/logs?wtimeoutMS=7&socketTimeoutMS=5&w=2")
            .expect("good");
        assert_eq!((place.database.as_str(), place.answer_max), ("logs", Duration::from_millis(5)));
        assert_eq!(place.hosts, "a:1,b:27017");
        let concern = place.concern();
        assert_eq!((concern.nodes, concern.timeout), (Some(Nodes::Count(2)), Some(Duration::from_millis(7))));
        for wrong in
            ["", "http://a/b", "mongodb://a", "mongodb+srv://a/b", "mongodb://a:x/b", "mongodb://a/b?w=-1"]
        {
            assert!(Deployment::parse(wrong).is_err(), "{wrong}");
        }
    }
}
