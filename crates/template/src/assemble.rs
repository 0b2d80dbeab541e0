//! Lays a template's pieces out as steps, and the joins that make them few.

use crate::line::Line;
use crate::macros::Fact;
use crate::op::{Lit, Op, Step};
use crate::{Template, TemplateOptions};
use record::ValueType;
use std::sync::Arc;

/// A part of a template before literals are laid out.
pub(crate) enum Piece {
    Text(Vec<u8>, ValueType),
    Op(Op),
    WithDefault(Op, Vec<u8>),
}

/// Lays the pieces out.
pub(crate) fn assemble(text: String, pieces: Vec<Piece>, opts: &TemplateOptions, escape: bool) -> Template {
    let mut pieces = joined(pieces);
    if !escape {
        pieces = with_dates_joined(with_pri_headers(pieces));
    }
    let lone_type = match &*pieces {
        [Piece::Text(_, kind)] => *kind,
        [Piece::Op(Op::Fact(fact))] => fact.value_type(),
        [Piece::Op(Op::Date(date))] if date.is_unix() => ValueType::DateTime,
        _ => ValueType::String,
    };
    let mut literals = Vec::new();
    let mut lay = |bytes: &[u8]| {
        let lit = Lit { start: literals.len() as u32, len: bytes.len() as u32 };
        literals.extend_from_slice(bytes);
        lit
    };
    let prefix = match pieces.first() {
        Some(Piece::Text(bytes, _)) => bytes.clone(),
        _ => Vec::new(),
    };
    let mut steps: Vec<Step> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let op = match piece {
            Piece::Text(bytes, _) => match (&*bytes, steps.last_mut()) {
                ([byte], Some(last @ Step { then: None, .. })) => {
                    last.then = Some(*byte);
                    continue;
                }
                (bytes, _) => Op::Literal(lay(bytes)),
            },
            Piece::Op(Op::Message)
                if matches!(steps.last(), Some(Step { op: Op::Msghdr, then: None })) && !escape =>
            {
                steps.pop();
                Op::MsghdrMessage
            }
            Piece::Op(op) => op,
            Piece::WithDefault(op, default) => Op::Default(Box::new((op, lay(&default)))),
        };
        steps.push(Step { op, then: None });
    }
    let line = Line::of(&steps).filter(|_| !escape);
    let chains = chains(&steps);
    Template {
        text: text.into(),
        steps: steps.into(),
        line,
        literals: literals.into(),
        prefix: prefix.into(),
        options: opts.clone(),
        escape,
        hint: None,
        lone_type,
        keep_type: opts.version >= (4, 0) && !escape,
        chains,
    }
}

fn chains(steps: &[Step]) -> Box<[Arc<slog::Chain>]> {
    let mut found: Vec<Arc<slog::Chain>> = Vec::new();
    for step in steps {
        let of_step = match &step.op {
            Op::Call(function) => function.chain().map(std::slice::from_ref).unwrap_or_default(),
            Op::Nested(template) => &template.chains,
            _ => &[],
        };
        for chain in of_step {
            if !found.iter().any(|known| Arc::ptr_eq(known, chain)) {
                found.push(Arc::clone(chain));
            }
        }
    }
    found.into()
}

/// Joins neighbouring texts. A text that stands alone keeps its type.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match (joined.last_mut(), piece) {
            (Some(Piece::Text(before, kind)), Piece::Text(text, _)) => {
                before.extend_from_slice(&text);
                *kind = ValueType::String;
            }
            (_, Piece::Text(text, kind)) if text.is_empty() && kind == ValueType::String => {}
            (_, piece) => joined.push(piece),
        }
    }
    joined
}

/// Turns `<`, PRI, `>` into one step, which can be copied from the message.
fn with_pri_headers(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut done: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut pieces = pieces.into_iter().peekable();
    while let Some(piece) = pieces.next() {
        let opens = matches!(done.last(), Some(Piece::Text(text, _)) if text.ends_with(b"<"));
        let closes = matches!(pieces.peek(), Some(Piece::Text(text, _)) if text.starts_with(b">"));
        let is_pri = matches!(piece, Piece::Op(Op::Fact(Fact::Pri)));
        if !(is_pri && opens && closes) {
            done.push(piece);
            continue;
        }
        if let Some(Piece::Text(mut before, kind)) = done.pop() {
            before.pop();
            if !before.is_empty() {
                done.push(Piece::Text(before, kind));
            }
        }
        done.push(Piece::Op(Op::PriHeader));
        if let Some(Piece::Text(mut after, kind)) = pieces.next() {
            after.remove(0);
            if !after.is_empty() {
                done.push(Piece::Text(after, kind));
            }
        }
    }
    done
}

/// Joins date macros of one clock and the text between them: `$YEAR-$MONTH-$DAY` is formatted once per second
/// as a whole.
fn with_dates_joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut done: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let Piece::Op(Op::Date(date)) = &piece else {
            done.push(piece);
            continue;
        };
        let joined = match &*done {
            [.., Piece::Op(Op::Date(before))] => before.followed_by(b"", date).map(|d| (1, d)),
            [.., Piece::Op(Op::Date(before)), Piece::Text(text, _)] => {
                before.followed_by(text, date).map(|d| (2, d))
            }
            _ => None,
        };
        match joined {
            Some((replaced, joined)) => {
                done.truncate(done.len() - replaced);
                done.push(Piece::Op(Op::Date(Box::new(joined))));
            }
            None => done.push(piece),
        }
    }
    done
}
