//! Numbers of JSON, and whether they are printed as they stand there.

use super::{Problem, Reader};
use crate::{Value, double_of, integer_of};

impl<W: Fn(&[u8]) -> bool> Reader<'_, W> {
    #[inline]
    pub(super) fn number(&mut self) -> Result<Value, Problem> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let (mut value, mut len) = (0i64, 0);
        while let Some(digit @ b'0'..=b'9') = rest.get(len) {
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            len += 1;
        }
        match rest.get(len) {
            _ if len == 0 || len > 18 => self.other_number(rest),
            Some(b'.' | b'e' | b'E' | b'-' | b'+') => self.other_number(rest),
            _ => {
                self.at += len;
                self.as_printed &= len == 1 || rest.first() != Some(&b'0');
                Ok(Value::Integer(value))
            }
        }
    }

    /// A number with a sign or a fraction, or a long one.
    #[inline(never)]
    fn other_number(&mut self, rest: &[u8]) -> Result<Value, Problem> {
        let is_part = |b: &u8| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let len = rest.iter().position(|b| !is_part(b)).unwrap_or(rest.len());
        let number = rest.get(..len).unwrap_or_default();
        let whole = !number.iter().any(|b| matches!(b, b'.' | b'e' | b'E'));
        let fits = number.len() < 19;
        let value = match integer_of(number).filter(|_| whole) {
            Some(value) if fits => Some(Value::Integer(value)),
            Some(value) if !matches!(value, i64::MAX | i64::MIN) => Some(Value::Integer(value)),
            Some(value) if is_exactly(number, value) => Some(Value::Integer(value)),
            _ => double_of(number).filter(|n| n.is_finite()).map(Value::Double),
        };
        let value = value.ok_or(Problem::Number)?;
        self.at += len;
        self.as_printed = self.as_printed && self.is_printed_as(value, number);
        Ok(value)
    }

    /// Whether a number is printed as it stands there.
    fn is_printed_as(&mut self, value: Value, number: &[u8]) -> bool {
        let mark = self.made.len();
        match value {
            Value::Integer(n) => crate::put_integer(n, self.made),
            Value::Double(_) if is_shortest(number) => return true,
            Value::Double(n) => crate::put_double(n, self.made),
            _ => {}
        }
        let is_same = self.made.get(mark..) == Some(number);
        self.made.truncate(mark);
        is_same
    }
}

/// Whether a number is the shortest text of a double, as far as that can be seen: it has up to 15 digits, of
/// which all are needed, and is not so near to zero that it would be written with an exponent.
pub(super) fn is_shortest(number: &[u8]) -> bool {
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    let Some(point) = digits.iter().position(|b| *b == b'.').filter(|_| digits.len() <= 16) else {
        return false;
    };
    let (whole, fraction) =
        (digits.get(..point).unwrap_or_default(), digits.get(point + 1..).unwrap_or_default());
    let all_digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    all_digits(whole)
        && all_digits(fraction)
        && (whole == b"0" && !fraction.starts_with(b"000") || whole.first() != Some(&b'0'))
        && (fraction == b"0" || fraction.last() != Some(&b'0'))
}

/// Whether the digits say this number, which is at an end of the range, and none beyond it.
fn is_exactly(digits: &[u8], value: i64) -> bool {
    let mut text = Vec::with_capacity(20);
    crate::put_integer(value, &mut text);
    let plain =
        |text: &[u8]| text.iter().skip_while(|b| matches!(b, b'-' | b'0')).copied().collect::<Vec<u8>>();
    plain(&text) == plain(digits)
}
