//! What the codes of a server mean, for a connection and for a message.

use dialogue::{Judged, Loss};

/// Of a CONNACK; `None`: it takes this side.
pub fn of_connection(code: u8, is_five: bool) -> Option<Loss> {
    let text = match (code, is_five) {
        (0, _) => return None,
        (1, false) | (0x84, true) => "the server does not speak this version of MQTT",
        (2, false) | (0x85, true) => "the server does not like the client-id",
        (3, false) | (0x88, true) => "the server is unavailable",
        (4, false) | (0x86, true) => "the server knows no such user and password",
        (5, false) | (0x87, true) => "the server does not authorize this client",
        (0x8a, true) => "the server has banned this client",
        (0x8c, true) => "the server does not know this way to log in",
        _ => "the server refuses the connection",
    };
    let why = format!("{text} (code {code})");
    Some(match (code, is_five) {
        (3, false) | (0x80 | 0x83 | 0x88 | 0x89 | 0x97 | 0x9c | 0x9f, true) => Loss::Broken(why),
        _ => Loss::Refused(why),
    })
}

/// Of PUBACK, PUBREC or PUBCOMP. `fixed`: the topic is the same for all messages.
pub fn of_message(code: u8, fixed: bool) -> Judged {
    let text = match code {
        0..0x80 => return Judged::Delivered,
        0x87 => "not authorized",
        0x90 => "topic name invalid",
        0x91 => "packet identifier in use",
        0x92 => "packet identifier not found",
        0x97 => "quota exceeded",
        0x99 => "payload format invalid",
        _ => "refused",
    };
    let why = format!("{text} (reason {code:#04x})");
    match code {
        0x91 | 0x92 | 0x97 => Judged::Again(why),
        0x87 | 0x90 if fixed => Judged::Hold(why),
        _ => Judged::Refused(why),
    }
}

/// Whether the code of a DISCONNECT of MQTT 5 is about a message: malformed, too large, a topic or a text
/// that is none. `fixed`: the topic is the same for all messages.
pub fn is_about_a_message(code: u8, fixed: bool) -> bool {
    matches!(code, 0x81 | 0x95 | 0x99) || code == 0x90 && !fixed
}

/// Of a DISCONNECT of MQTT 5.
pub fn of_end(code: u8) -> Loss {
    let text = match code {
        0x81 => ": a malformed packet",
        0x87 => ": not authorized",
        0x8b => ": it is shutting down",
        0x8e => ": another client has this client-id",
        0x90 => ": topic name invalid",
        0x95 => ": packet too large",
        0x97 => ": quota exceeded",
        0x99 => ": payload format invalid",
        _ => "",
    };
    let why = format!("the server has ended the connection (reason {code:#04x}{text})");
    match code {
        0x87 | 0x8a | 0x8e | 0x90 | 0x9b | 0x9d => Loss::Refused(why),
        _ => Loss::Broken(why),
    }
}
