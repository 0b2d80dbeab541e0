//! What sources stand on: listeners and their connections, datagrams, files that are followed, lines, and who
//! sent a message.

pub mod cut;
pub mod datagram;
pub mod encoding;
pub mod farewell;
pub mod files;
pub mod inet;
pub mod inotify;
pub mod input;
pub mod joined;
pub mod json_string;
pub mod lines;
pub mod listener;
pub mod multi_line;
pub mod optional;
pub mod processes;
pub mod proxied;
pub mod reading;
pub mod requests;
pub mod secure;
pub mod senders;
pub mod socket_file;
pub mod timer;
pub mod unnamed;
