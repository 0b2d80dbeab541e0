//! Answers of all kinds, for the fuzz target and its replay.

use super::{Expected, Session};
use crate::Login;
use crate::answers;
use crate::bytes::Input;
use crate::requests::Api;
use crate::requests::transacting::Asked;
use std::sync::Arc;

/// Answers of all kinds out of one input.
pub fn read_anything(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let expected = [
        Expected::Versions,
        Expected::Handshake,
        Expected::Login,
        Expected::Metadata,
        Expected::Identity,
        Expected::Produce(1),
        Expected::Consumer(Api::Fetch),
        Expected::Consumer(Api::ListOffsets),
        Expected::Consumer(Api::FindCoordinator),
        Expected::Consumer(Api::JoinGroup),
        Expected::Consumer(Api::SyncGroup),
        Expected::Consumer(Api::OffsetCommit),
        Expected::Consumer(Api::OffsetFetch),
        Expected::Consumer(Api::GroupHeartbeat),
        Expected::Transaction(Asked::Partitions),
        Expected::Transaction(Asked::Position),
    ];
    let login = match kind % 2 {
        0 => {
            let mechanism = crate::Mechanism::ScramSha256;
            Login::Password { mechanism, user: "u".into(), password: "p".into() }
        }
        _ => Login::Token { token: "t".into(), extensions: Vec::new() },
    };
    let mut session = Session::new("c".into(), Some(Arc::new(login)));
    session.expected.clear();
    for at in 0..expected.len() {
        let kind = (usize::from(*kind) + at) % expected.len();
        let kind = expected.get(kind).copied().unwrap_or(Expected::Versions);
        session.expected.push_back((at as i32, i16::from(bytes.len() as u8 % 9), kind));
    }
    let _ = answers::metadata(&mut Input(rest));
    let _ = answers::metadata_with_numbers(&mut Input(rest));
    crate::answers::consuming::read_anything(rest);
    crate::answers::transacting::read_anything(rest);
    let _ = answers::produce(&mut Input(rest), 8);
    session.input().extend_from_slice(rest);
    let mut heard = Vec::new();
    let _ = session.hear(&mut heard);
    // What is heard is not much more than what was said.
    assert!(heard.len() <= bytes.len());
}
