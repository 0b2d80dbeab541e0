//! The compiled form of a template: a flat list of copies.

use crate::date::{Clock, Date};
use crate::function::Function;
use crate::macros::Fact;
use crate::{Template, sdata};
use record::{Demand, NameId};
use std::sync::Arc;

/// A piece of [`Template::literals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lit {
    pub start: u32,
    pub len: u32,
}

/// One step: something to print and the separator after it, which is one byte nearly always.
pub(crate) struct Step {
    pub op: Op,
    pub then: Option<u8>,
}

/// Something to print. Kept small; what is large or rare stands behind a box.
pub(crate) enum Op {
    Literal(Lit),
    Host,
    Program,
    Pid,
    Msgid,
    LegacyMsghdr,
    Message,
    /// The host field, of messages marked as chained the part between `@` and `/`.
    HostMiddle,
    Msghdr,
    /// MSGHDR and MESSAGE.
    MsghdrMessage,
    /// `<PRI>` with its brackets.
    PriHeader,
    /// The version of RFC 5424.
    Version,
    /// A BSD stamp without fraction: copied from the message where it is known to stand there.
    StampText(Box<Date>),
    Date(Box<Date>),
    Value(NameId),
    SdataParam(Box<sdata::ParamName>),
    Fact(Fact),
    /// A header field of RFC 5424: cut at its first blank, `-` when empty.
    Nilable(Header),
    /// STRUCTURED-DATA of RFC 5424: `-` when there is none.
    NilableSdata,
    /// A blank and MESSAGE, with a byte order mark when it is known to be UTF-8.
    ProtocolMessage,
    /// The byte order mark alone.
    ProtocolMark,
    Default(Box<(Op, Lit)>),
    Call(Box<dyn Function>),
    Nested(Arc<Template>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    Host,
    Program,
    Pid,
    Msgid,
}

impl Header {
    pub fn name(self) -> NameId {
        match self {
            Header::Host => NameId::HOST,
            Header::Program => NameId::PROGRAM,
            Header::Pid => NameId::PID,
            Header::Msgid => NameId::MSGID,
        }
    }
}

impl Op {
    /// The step that prints a value.
    pub fn of_name(name: NameId) -> Op {
        match name {
            NameId::HOST => Op::Host,
            NameId::PROGRAM => Op::Program,
            NameId::PID => Op::Pid,
            NameId::MSGID => Op::Msgid,
            NameId::LEGACY_MSGHDR => Op::LegacyMsghdr,
            NameId::MESSAGE => Op::Message,
            _ if name.is_sdata() => Op::SdataParam(Box::new(sdata::ParamName::new(name))),
            _ => Op::Value(name),
        }
    }

    /// The value this step prints and nothing else, if there is one.
    pub fn name(&self) -> Option<NameId> {
        Some(match self {
            Op::Host => NameId::HOST,
            Op::Program => NameId::PROGRAM,
            Op::Pid => NameId::PID,
            Op::Msgid => NameId::MSGID,
            Op::LegacyMsghdr => NameId::LEGACY_MSGHDR,
            Op::Message => NameId::MESSAGE,
            Op::Value(name) => *name,
            Op::SdataParam(param) => param.name,
            _ => return None,
        })
    }

    pub fn is_literal(&self) -> bool {
        matches!(self, Op::Literal(_))
    }

    /// Whether it prints the same for all messages of a batch that came the same way at the same time.
    pub fn is_common(&self) -> bool {
        match self {
            Op::Literal(_) => true,
            Op::Date(date) => matches!(date.clock, Clock::Received | Clock::Now),
            Op::Fact(fact) => matches!(
                fact,
                Fact::LogHost
                    | Fact::HostId
                    | Fact::RunId
                    | Fact::SourceIp
                    | Fact::SourcePort
                    | Fact::DestIp
                    | Fact::DestPort
                    | Fact::PeerIp
                    | Fact::PeerPort
                    | Fact::IpProto
                    | Fact::Proto
                    | Fact::ProtoName
            ),
            _ => false,
        }
    }

    pub fn reads(&self, demand: &mut Demand) {
        if let Some(name) = self.name() {
            demand.name(name);
            demand.sdata |= matches!(self, Op::SdataParam(_));
            return;
        }
        match self {
            Op::HostMiddle => demand.name(NameId::HOST),
            Op::Msghdr | Op::MsghdrMessage => {
                if matches!(self, Op::MsghdrMessage) {
                    demand.name(NameId::MESSAGE);
                }
                for name in [NameId::LEGACY_MSGHDR, NameId::PROGRAM, NameId::PID] {
                    demand.name(name);
                }
            }
            Op::PriHeader => demand.pri = true,
            Op::StampText(date) | Op::Date(date) => demand.stamp |= date.clock == Clock::Message,
            Op::Fact(fact) => fact_reads(*fact, demand),
            Op::Nilable(header) => demand.name(header.name()),
            Op::NilableSdata => demand.sdata = true,
            Op::ProtocolMessage | Op::ProtocolMark => demand.name(NameId::MESSAGE),
            Op::Default(inner) => inner.0.reads(demand),
            Op::Call(function) => function.reads(demand),
            Op::Nested(template) => template.reads(demand),
            _ => {}
        }
    }
}

fn fact_reads(fact: Fact, demand: &mut Demand) {
    match fact {
        Fact::Facility | Fact::FacilityNum | Fact::Severity | Fact::SeverityNum => demand.pri = true,
        Fact::Pri | Fact::Tag | Fact::BsdTag => demand.pri = true,
        Fact::Tags => demand.tags = true,
        Fact::Sdata | Fact::SeqNum => demand.sdata = true,
        Fact::RawMsg | Fact::RawMsgSize => demand.raw = true,
        Fact::MsgFormat => demand.name(NameId::MSGFORMAT),
        Fact::RcptId | Fact::UniqId => demand.name(crate::facts::rcptid()),
        Fact::Matches => (0..=NameId::MATCH_MAX).for_each(|n| demand.name(NameId(n))),
        _ => {}
    }
}
