//! A connection in the lines of the log.

/// A connection in the messages about it.
pub struct Described {
    pub fd: i32,
    pub client: String,
    pub local: String,
}

impl Described {
    /// The line of the log about its end, with what went wrong.
    pub fn say_closed(&self, failure: Option<&String>) {
        let Described { fd, client, local } = self;
        let text = "Syslog connection closed";
        let (key, level) = ("connection-closed", oplog::Level::Notice);
        match failure {
            Some(error) => {
                let fields: [oplog::Field<'_>; 4] =
                    [("fd", fd), ("client", client), ("local", local), ("error", error)];
                oplog::often(key, level, text, &fields);
            }
            None => {
                let fields: [oplog::Field<'_>; 3] = [("fd", fd), ("client", client), ("local", local)];
                oplog::often(key, level, text, &fields);
            }
        }
    }
}
