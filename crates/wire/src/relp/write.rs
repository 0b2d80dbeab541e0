//! Frames written onto the end of a buffer.

use super::offers;

/// A frame of a command.
pub fn frame(out: &mut Vec<u8>, txnr: u32, command: &str, data: &[u8]) {
    number(out, txnr);
    out.push(b' ');
    out.extend_from_slice(command.as_bytes());
    out.push(b' ');
    number(out, data.len() as u32);
    if !data.is_empty() {
        out.push(b' ');
        out.extend_from_slice(data);
    }
    out.push(b'\n');
}

/// Bytes of the longest data a frame can hold: nine digits.
pub const MESSAGE_BYTES_MAX: usize = 999_999_999;

/// One message, without the end of line that it may have: the frame says where it ends. Longer ones are cut
/// at what a frame can hold.
pub fn message(out: &mut Vec<u8>, txnr: u32, message: &[u8]) {
    let text = message.strip_suffix(b"\n").unwrap_or(message);
    frame(out, txnr, "syslog", text.get(..MESSAGE_BYTES_MAX).unwrap_or(text));
}

/// The first frame of a session.
pub fn open(out: &mut Vec<u8>, txnr: u32) {
    frame(out, txnr, "open", &offers::own());
}

pub fn close(out: &mut Vec<u8>, txnr: u32) {
    frame(out, txnr, "close", &[]);
}

/// The server's end of a session; nobody answers it.
pub fn serverclose(out: &mut Vec<u8>) {
    frame(out, 0, "serverclose", &[]);
}

/// The message of this number is dealt with.
pub fn response(out: &mut Vec<u8>, txnr: u32) {
    number(out, txnr);
    out.extend_from_slice(b" rsp 6 200 OK\n");
}

/// `open` is accepted, with the offers of this side.
pub fn accept(out: &mut Vec<u8>, txnr: u32) {
    let mut data = b"200 OK\n".to_vec();
    data.extend_from_slice(&offers::own());
    frame(out, txnr, "rsp", &data);
}

/// Whatever it was, it cannot be done.
pub fn refuse(out: &mut Vec<u8>, txnr: u32, why: &str) {
    frame(out, txnr, "rsp", format!("500 {why}").as_bytes());
}

fn number(out: &mut Vec<u8>, value: u32) {
    let mut digits = [0u8; 10];
    let mut at = digits.len();
    let mut rest = value;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}
