//! Names and values of the state file as lines of text: `NAME = { "value": "0A FF" }`. Bytes that are no text
//! stand as `\xNN`.

const BETWEEN: &str = " = { \"value\": \"";
const END: &str = "\" }";

/// One entry.
pub fn line(name: &[u8], value: &[u8]) -> String {
    format!("{}{BETWEEN}{}{END}", shown(name), hexadecimal(value))
}

/// Two digits a byte, with blanks between.
pub fn hexadecimal(value: &[u8]) -> String {
    let digits: Vec<String> = value.iter().map(|byte| format!("{byte:02X}")).collect();
    digits.join(" ")
}

/// What [`line`] has made.
pub fn parse(line: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    let line = line.trim();
    // The name may hold anything, the value only digits.
    let at = line.rfind(BETWEEN)?;
    let (shown, value) = (line.get(..at)?, line.get(at + BETWEEN.len()..)?.strip_suffix(END)?);
    let digit = |c: char| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut digits = value.chars().filter(|c| *c != ' ');
    let mut bytes = Vec::new();
    while let Some(high) = digits.next() {
        bytes.push(digit(high)? << 4 | digit(digits.next()?)?);
    }
    (!shown.is_empty()).then(|| (name(shown), bytes))
}

fn shown(name: &[u8]) -> String {
    let mut text = String::new();
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => text.push_str("\\x5c"),
                c if c.is_control() => {
                    c.to_string().bytes().for_each(|b| text.push_str(&format!("\\x{b:02x}")))
                }
                c => text.push(c),
            }
        }
        chunk.invalid().iter().for_each(|b| text.push_str(&format!("\\x{b:02x}")));
    }
    text
}

/// The bytes of a name as it is shown.
pub fn name(shown: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = shown;
    while let Some(at) = rest.find("\\x") {
        let (before, escape) = rest.split_at(at);
        bytes.extend_from_slice(before.as_bytes());
        let digits = escape.get(2..4).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let taken = match digits {
            Some(byte) => {
                bytes.push(byte);
                4
            }
            // No escape: as it is.
            None => {
                bytes.extend_from_slice(b"\\x");
                2
            }
        };
        rest = escape.get(taken..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let check = |bytes: &[u8], value: &[u8], expected: &str| {
            assert_eq!(line(bytes, value), expected);
            assert_eq!(parse(expected), Some((bytes.to_vec(), value.to_vec())));
        };
        check(
            b"affile_sd_curpos(/var/log/x)/1:2",
            &[0, 0xab],
            "affile_sd_curpos(/var/log/x)/1:2 = { \"value\": \"00 AB\" }",
        );
        check("é\n\\".as_bytes(), b"", "é\\x0a\\x5c = { \"value\": \"\" }");
        check(b"\xff = { \"value\": \"", &[1], "\\xff = { \"value\": \" = { \"value\": \"01\" }");
        for wrong in
            ["", "a", "a = { \"value\": \"0\" }", "a = { \"value\": \"0g\" }", " = { \"value\": \"00\" }"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert_eq!(name("\\xzz\\x"), b"\\xzz\\x");
    }
}
