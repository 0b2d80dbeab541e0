//! Template functions that calculate. Whole numbers stay whole; with a fraction anywhere the result has one
//! of 20 digits; what cannot be calculated is `NaN`.

use crate::Cost;
use crate::facts::put;
use crate::function::{Args, Build, FunctionInfo, Plain};
use record::ValueType;

const fn binary(
    name: &'static str,
    help: &'static str,
    run: Plain,
    example: (&'static str, &'static str),
) -> FunctionInfo {
    FunctionInfo {
        name,
        usage: "A B",
        help,
        arity: (2, 2),
        options: &[],
        build: Build::Plain(run),
        example,
        cost: Cost::PARSED,
    }
}

const fn rounding(
    name: &'static str,
    help: &'static str,
    run: Plain,
    example: (&'static str, &'static str),
) -> FunctionInfo {
    FunctionInfo {
        name,
        usage: "NUMBER [DIGITS]",
        help,
        arity: (1, 2),
        options: &[],
        build: Build::Plain(run),
        example,
        cost: Cost::PARSED,
    }
}

pub(super) const FUNCTIONS: &[FunctionInfo] = &[
    binary("+", "the sum", |a, out| calculate(a, out, i64::checked_add, |a, b| a + b), ("$(+ 1 2)", "3")),
    binary(
        "-",
        "the difference",
        |a, out| calculate(a, out, i64::checked_sub, |a, b| a - b),
        ("$(- 1 2)", "-1"),
    ),
    binary(
        "*",
        "the product",
        |a, out| calculate(a, out, i64::checked_mul, |a, b| a * b),
        ("$(* 3 2.5)", "7.50000000000000000000"),
    ),
    binary(
        "/",
        "the quotient",
        |a, out| calculate(a, out, i64::checked_div, |a, b| a / b),
        ("$(/ 7 2)", "3"),
    ),
    binary(
        "%",
        "the remainder",
        |a, out| calculate(a, out, i64::checked_rem, |a, b| a % b),
        ("$(% 7 4)", "3"),
    ),
    rounding(
        "round",
        "rounded to DIGITS behind the point",
        |a, out| {
            round(a, out, f64::round);
            ValueType::Double
        },
        ("$(round 1.26 1)", "1.3"),
    ),
    rounding("floor", "rounded down", |a, out| round(a, out, f64::floor), ("$(floor 1.7)", "1")),
    rounding("ceil", "rounded up", |a, out| round(a, out, f64::ceil), ("$(ceil 1.2)", "2")),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Int(i64),
    Double(f64),
}

impl Number {
    fn read(text: &[u8]) -> Option<Number> {
        let text = std::str::from_utf8(text).ok()?.trim_start();
        if let Ok(int) = text.parse() {
            return Some(Number::Int(int));
        }
        // With a fraction, as syslog-ng has it (golden case template/numbers).
        if let Some(hex) = text.strip_prefix("0x") {
            return i64::from_str_radix(hex, 16).ok().map(|n| Number::Double(n as f64));
        }
        text.parse::<f64>().ok().filter(|d| d.is_finite()).map(Number::Double)
    }

    fn double(self) -> f64 {
        match self {
            Number::Int(int) => int as f64,
            Number::Double(double) => double,
        }
    }
}

fn calculate(
    args: Args<'_>,
    out: &mut Vec<u8>,
    ints: fn(i64, i64) -> Option<i64>,
    doubles: fn(f64, f64) -> f64,
) -> ValueType {
    let result = match (Number::read(args.get(0)), Number::read(args.get(1))) {
        (Some(Number::Int(a)), Some(Number::Int(b))) => ints(a, b).map(Number::Int),
        (Some(a), Some(b)) => Some(Number::Double(doubles(a.double(), b.double()))),
        _ => None,
    };
    match result {
        Some(Number::Int(int)) => {
            put(out, format_args!("{int}"));
            ValueType::Int
        }
        Some(Number::Double(double)) if double.is_finite() => {
            // 20 digits, as in syslog-ng (golden case template/numbers); $(round X 2) makes two of them.
            put(out, format_args!("{:.20}", double + 0.0));
            ValueType::Double
        }
        _ => nan(out),
    }
}

/// Digits $(round) makes at most.
const DIGITS_MAX: i64 = 20;

fn nan(out: &mut Vec<u8>) -> ValueType {
    out.extend_from_slice(b"NaN");
    ValueType::Double
}

fn round(args: Args<'_>, out: &mut Vec<u8>, to_whole: fn(f64) -> f64) -> ValueType {
    let digits = match args.count() {
        1 => Some(Number::Int(0)),
        _ => Number::read(args.get(1)),
    };
    match (Number::read(args.get(0)), digits) {
        (Some(Number::Int(int)), Some(Number::Int(0))) => put(out, format_args!("{int}")),
        (Some(Number::Int(int)), Some(Number::Int(digits @ 1..=DIGITS_MAX))) => {
            put(out, format_args!("{int}.{:0width$}", 0, width = digits as usize));
        }
        (Some(Number::Double(double)), Some(Number::Int(digits @ 0..=DIGITS_MAX))) => {
            let scale = 10f64.powi(digits as i32);
            let rounded = to_whole(double * scale) / scale;
            if !rounded.is_finite() {
                return nan(out);
            }
            put(out, format_args!("{rounded:.width$}", width = digits as usize));
        }
        _ => return nan(out),
    }
    if args.count() == 1 { ValueType::Int } else { ValueType::Double }
}
