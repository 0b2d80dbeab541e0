//! What a consumer says on a connection, and what it hears.

use super::{Expected, Fault, Heard, Session};
use crate::answers::consuming as answers;
use crate::bytes::Input;
use crate::requests::consuming::Ask;
use crate::requests::{self, Api};

impl Session {
    /// Asks about all topics there are.
    pub fn ask_all_metadata(&mut self) -> Result<(), Fault> {
        let version = self.version(Api::Metadata)?;
        self.ask(Api::Metadata, version, Expected::Metadata, requests::all_metadata);
        Ok(())
    }

    /// Asks about topics, or all there are, with their numbers.
    pub fn ask_numbers(&mut self, topics: Option<&[Box<[u8]>]>) -> Result<(), Fault> {
        let version = self.common(Api::Metadata, requests::METADATA_WITH_NUMBERS)?;
        self.ask(Api::Metadata, version, Expected::Metadata, |out| {
            requests::metadata_with_numbers(out, topics);
        });
        Ok(())
    }

    pub(super) fn heard_numbers(&self, input: &mut Input<'_>, heard: &mut Vec<Heard>) -> Result<(), Fault> {
        let (metadata, numbers) = crate::answers::metadata_with_numbers(input)?;
        heard.extend([Heard::Metadata(metadata), Heard::OfGroup(answers::OfGroup::Numbers(numbers))]);
        Ok(())
    }

    /// Asks what a consumer asks.
    pub fn consume(&mut self, ask: &Ask) -> Result<(), Fault> {
        let api = ask.api();
        let version = self.common(api, ask.versions())?;
        self.ask(api, version, Expected::Consumer(api), |out| ask.put(out, version));
        Ok(())
    }

    /// `answer`: all of it, its body from `at` on.
    pub(super) fn consumer_hears(
        &self,
        (api, version): (Api, i16),
        answer: &[u8],
        at: usize,
    ) -> Result<Heard, Fault> {
        let input = &mut Input(answer.get(at..).unwrap_or_default());
        let said = match api {
            Api::ListOffsets => return Ok(Heard::Offsets(answers::offsets(input)?)),
            Api::FindCoordinator => answers::coordinator(input)?,
            Api::JoinGroup => answers::joined(input, version)?,
            Api::SyncGroup => answers::synced(input)?,
            Api::Heartbeat => answers::heartbeat(input)?,
            Api::LeaveGroup => answers::OfGroup::Left,
            Api::OffsetCommit if version >= 9 => answers::ruled_commits(input)?,
            Api::OffsetCommit => answers::commits(input)?,
            Api::GroupHeartbeat => answers::ruled(input)?,
            Api::OffsetFetch => answers::committed(input)?,
            _ => return Err(answers::NONE.into()),
        };
        Ok(Heard::OfGroup(said))
    }
}
