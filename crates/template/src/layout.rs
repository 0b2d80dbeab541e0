//! The layouts a destination uses when it has no template(): template-escape() does not touch them.

use crate::assemble::{Piece, assemble};
use crate::compile::Compiler;
use crate::date::{Clock, DateKind};
use crate::op::{Header, Op};
use crate::{NoScope, Template, TemplateOptions};
use record::ValueType;
use std::sync::Arc;

fn text(text: &str) -> Piece {
    Piece::Text(text.as_bytes().to_vec(), ValueType::String)
}

/// file, pipe, program, standard output, usertty: `STAMP HOST MSGHDR` and MESSAGE, one line each.
pub fn file_default(opts: &TemplateOptions) -> Template {
    let stamp = Compiler::new(opts, &NoScope).date(opts.ts_format.into(), Clock::Message);
    assemble(String::new(), line(vec![Piece::Op(stamp)]), opts, false)
}

/// network and unix sockets: `<PRI>` and always the BSD stamp, whatever ts-format() says.
pub fn network_default(opts: &TemplateOptions) -> Template {
    let stamp = Compiler::new(opts, &NoScope).date(DateKind::Bsd, Clock::Message);
    assemble(String::new(), line(vec![Piece::Op(Op::PriHeader), Piece::Op(stamp)]), opts, false)
}

fn line(mut pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.extend([
        text(" "),
        Piece::Op(Op::Host),
        text(" "),
        Piece::Op(Op::Msghdr),
        Piece::Op(Op::Message),
        text("\n"),
    ]);
    pieces
}

/// RFC 5424: syslog() destinations and flags(syslog-protocol). The newline is part of the payload.
pub fn syslog_protocol(opts: &TemplateOptions) -> Template {
    protocol(opts, vec![Piece::Op(Op::ProtocolMessage)])
}

/// RFC 5424 with a template in the place of MSG.
pub fn syslog_protocol_with(opts: &TemplateOptions, message: Arc<Template>) -> Template {
    protocol(opts, vec![text(" "), Piece::Op(Op::ProtocolMark), Piece::Op(Op::Nested(message))])
}

fn protocol(opts: &TemplateOptions, message: Vec<Piece>) -> Template {
    let stamp = Compiler::new(opts, &NoScope).date(DateKind::Iso, Clock::Message);
    let mut pieces =
        vec![Piece::Op(Op::PriHeader), Piece::Op(Op::Version), text(" "), Piece::Op(stamp), text(" ")];
    for header in [Header::Host, Header::Program, Header::Pid, Header::Msgid] {
        pieces.extend([Piece::Op(Op::Nilable(header)), text(" ")]);
    }
    pieces.push(Piece::Op(Op::NilableSdata));
    pieces.extend(message);
    pieces.push(text("\n"));
    assemble(String::new(), pieces, opts, false)
}
