//! What FilterX blocks cost above the same input without one. Each prints the message as well, so that its
//! delivery can be verified.

use super::aim::Aim;
use super::{Case, Input, OWN, PLAIN, Path, Processing, TEN};
use loggen::message::Body;

/// What a block does with each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// There is none.
    None,
    Empty,
    /// A regular expression, and three values of its groups.
    Regexp,
    /// `parse_kv()` of twenty pairs, three read.
    Kv,
    /// `json()`, three members read and one written, `format_json()`.
    Json,
    /// Twenty comparisons of PROGRAM, one after the other.
    Chain,
    /// The same as a `switch`.
    Switch,
    /// A dictionary of fifteen keys, `format_json()`.
    Dict,
    /// A condition on HOST and one on a number.
    If,
    /// The same in filters.
    OldIf,
}

const fn block(
    name: &'static str,
    about: &'static str,
    body: Body,
    block: Block,
    aims: &'static [Aim],
) -> Case {
    Case {
        name,
        about,
        input: Input { body, ..TEN },
        path: Path::Processing(Processing::Block(block)),
        receivers: OWN,
        aims,
        ..PLAIN
    }
}

const TEXT: &str = "filterx-none";
const KV: &str = "filterx-none-kv";
const JSON: &str = "filterx-none-json";

pub(super) const CASES: [Case; 12] = [
    block(TEXT, "no block, 10 connections", Body::Text, Block::None, &[]),
    block(KV, "no block, messages of pairs", Body::Kv, Block::None, &[]),
    block(JSON, "no block, messages of JSON", Body::Json, Block::None, &[]),
    block(
        "filterx-empty",
        "a block without statements",
        Body::Text,
        Block::Empty,
        &[Aim::Within { case: TEXT, share: 0.02 }],
    ),
    block(
        "filterx-regexp",
        "regexp_search, three variables set from it",
        Body::Text,
        Block::Regexp,
        &[Aim::CpuUsMore { case: TEXT, us: 0.40 }],
    ),
    block(
        "filterx-kv",
        "parse_kv of 20 pairs, three read",
        Body::Kv,
        Block::Kv,
        &[Aim::CpuUsMore { case: KV, us: 0.35 }],
    ),
    block(
        "filterx-json",
        "json(), three members read, one written, format_json",
        Body::Json,
        Block::Json,
        &[Aim::CpuUsMore { case: JSON, us: 0.90 }],
    ),
    block(
        "filterx-chain",
        "twenty comparisons of strings",
        Body::Text,
        Block::Chain,
        &[Aim::CpuUsMore { case: TEXT, us: 0.12 }],
    ),
    block(
        "filterx-switch",
        "the same as a switch",
        Body::Text,
        Block::Switch,
        &[Aim::CpuUsMore { case: TEXT, us: 0.05 }],
    ),
    block(
        "filterx-dict",
        "a dictionary of 15 keys, format_json",
        Body::Text,
        Block::Dict,
        &[Aim::CpuUsMore { case: TEXT, us: 0.60 }],
    ),
    block("filterx-if-old", "if: filters on HOST and on a number", Body::Text, Block::OldIf, &[]),
    block(
        "filterx-if",
        "the same as expressions",
        Body::Text,
        Block::If,
        &[Aim::TimesCase { case: "filterx-if-old", times: 1.2 }],
    ),
];
