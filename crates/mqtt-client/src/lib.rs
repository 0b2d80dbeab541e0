//! MQTT 3.1.1 and 5. As a destination speaks it, each message is published under an identifier, and the
//! server's word on it is the word on that message; as a source does, the server hears of each message when
//! it is dealt with.

mod address;
mod codes;
pub mod options;
mod packet;
mod session;
mod subscriber;

pub use address::address;
pub use packet::{is_filter, is_topic};
pub use session::{Login, MqttSession, Plan, Quality, Version};
pub use subscriber::{LeftOut, MESSAGE_BYTES_MAX, Message, Subscriber, Subscription};

/// What server `bytes` say; for the fuzz target and its replay.
#[doc(hidden)]
pub fn read_anything(bytes: &[u8]) {
    session::read_anything(bytes);
    subscriber::read_anything(bytes);
}
