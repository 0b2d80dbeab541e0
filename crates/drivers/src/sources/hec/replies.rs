//! What Splunk's collector answers: its status, its own code, its words. Clients judge by the code.

use http_server::Answer;
use serde_json::json;

/// A code and what goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    status: u16,
    code: u8,
    text: &'static str,
}

const fn reply(status: u16, code: u8, text: &'static str) -> Reply {
    Reply { status, code, text }
}

pub const SUCCESS: Reply = reply(200, 0, "Success");
pub const TOKEN_REQUIRED: Reply = reply(401, 2, "Token is required");
pub const INVALID_AUTHORIZATION: Reply = reply(401, 3, "Invalid authorization");
pub const INVALID_TOKEN: Reply = reply(403, 4, "Invalid token");
pub const NO_DATA: Reply = reply(400, 5, "No data");
pub const INVALID_FORMAT: Reply = reply(400, 6, "Invalid data format");
pub const BUSY: Reply = reply(503, 9, "Server is busy");
pub const CHANNEL_MISSING: Reply = reply(400, 10, "Data channel is missing");
pub const INVALID_CHANNEL: Reply = reply(400, 11, "Invalid data channel");
pub const EVENT_REQUIRED: Reply = reply(400, 12, "Event field is required");
pub const EVENT_BLANK: Reply = reply(400, 13, "Event field cannot be blank");
pub const ACK_DISABLED: Reply = reply(400, 14, "ACK is disabled");
pub const INDEXED_FIELDS: Reply = reply(400, 15, "Error in handling indexed fields");
pub const QUERY_TOKEN: Reply = reply(400, 16, "Query string authorization is not enabled");
pub const HEALTHY: Reply = reply(200, 17, "HEC is healthy");

impl Reply {
    pub fn answer(self) -> Answer {
        Answer::json(self.status, json!({ "text": self.text, "code": self.code }).to_string())
    }

    /// Names the event that is wrong, counted from 0. Those before it are taken.
    pub fn at(self, event: usize) -> Answer {
        let said = json!({ "text": self.text, "code": self.code, "invalid-event-number": event });
        Answer::json(self.status, said.to_string())
    }

    /// Names the number to ask for.
    pub fn numbered(self, ack_id: u64) -> Answer {
        Answer::json(
            self.status,
            json!({ "text": self.text, "code": self.code, "ackId": ack_id }).to_string(),
        )
    }
}
