//! MQTT 3.1.1 and 5 as a destination speaks it: each message is published under an identifier, and the
//! server's word on it is the word on that message.

mod codes;
mod packet;
mod session;

pub use packet::is_topic;
pub use session::{Login, MqttSession, Plan, Quality, Version};

/// What server `bytes` say; for the fuzz target and its replay.
#[doc(hidden)]
pub fn read_anything(bytes: &[u8]) {
    session::read_anything(bytes);
}
