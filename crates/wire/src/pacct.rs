//! Records of process accounting as Linux writes them: `struct acct_v3` of acct(5), 64 bytes.

/// Bytes of a record, whatever its version.
pub const RECORD_BYTES: usize = 64;
/// The version that is read.
const VERSION: u8 = 3;
/// Of the byte of the version: numbers begin with their highest byte.
const BIG_ENDIAN: u8 = 0x80;

/// Names of the fields, in their order in a record.
pub const NAMES: [&str; 19] = [
    "ac_flag",
    "ac_version",
    "ac_tty",
    "ac_exitcode",
    "ac_uid",
    "ac_gid",
    "ac_pid",
    "ac_ppid",
    "ac_btime",
    "ac_etime",
    "ac_utime",
    "ac_stime",
    "ac_mem",
    "ac_io",
    "ac_rw",
    "ac_minflt",
    "ac_majflt",
    "ac_swaps",
    "ac_comm",
];

/// Fields that are numbers; the name of the command follows them.
pub const NUMBERS: usize = NAMES.len() - 1;

/// A record taken apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accounted<'a> {
    /// In the order of [`NAMES`].
    pub numbers: [f64; NUMBERS],
    /// The command, as far as its name goes into 16 bytes.
    pub command: &'a [u8],
}

/// Why a record is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is not 64 bytes long.
    Cut,
    /// A kernel without `CONFIG_BSD_PROCESS_ACCT_V3` has written it, or nobody's kernel.
    Version(u8),
}

/// Reads the numbers of a record, one after the other.
struct Reader<'a> {
    rest: &'a [u8],
    is_big: bool,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(Unreadable::Cut)?;
        self.rest = rest;
        Ok(*head)
    }

    fn u16(&mut self) -> Result<u16, Unreadable> {
        let bytes = self.take()?;
        Ok(if self.is_big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn u32(&mut self) -> Result<u32, Unreadable> {
        let bytes = self.take()?;
        Ok(if self.is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }
}

pub fn read(record: &[u8]) -> Result<Accounted<'_>, Unreadable> {
    let record: &[u8; RECORD_BYTES] = record.try_into().map_err(|_| Unreadable::Cut)?;
    let [flag, version, ..] = *record;
    if version & !BIG_ENDIAN != VERSION {
        return Err(Unreadable::Version(version & !BIG_ENDIAN));
    }
    let mut reader = Reader { rest: record, is_big: version & BIG_ENDIAN != 0 };
    reader.take::<2>()?;
    let mut numbers = [0.0; NUMBERS];
    let (first, others) = (f64::from(flag), f64::from(VERSION));
    for (at, number) in numbers.iter_mut().enumerate() {
        *number = match at {
            0 => first,
            1 => others,
            2 => f64::from(reader.u16()?),
            3..=8 => f64::from(reader.u32()?),
            // The one that is a number with a fraction.
            9 => whole_if_none(f32::from_bits(reader.u32()?)),
            _ => f64::from(expanded(reader.u16()?)),
        };
    }
    let length = reader.rest.iter().position(|byte| *byte == 0).unwrap_or(reader.rest.len());
    Ok(Accounted { numbers, command: reader.rest.get(..length).unwrap_or_default() })
}

/// What is no number is nothing.
fn whole_if_none(number: f32) -> f64 {
    if number.is_finite() { f64::from(number) } else { 0.0 }
}

/// A `comp_t`: thirteen bits, shifted by three times what the three above them say.
fn expanded(number: u16) -> u32 {
    u32::from(number & 0x1fff) << (3 * (number >> 13))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The record of a `true` that root ran, as Linux 6 has written it.
    fn record(is_big: bool) -> Vec<u8> {
        let mut out = vec![2, if is_big { 0x83 } else { 3 }];
        let mut put = |bytes: &[u8]| match is_big {
            true => out.extend_from_slice(bytes),
            false => out.extend(bytes.iter().rev()),
        };
        put(&0x8801u16.to_be_bytes());
        for number in [256u32, 1000, 100, 4242, 4241, 1_700_000_000, 1.5f32.to_bits()] {
            put(&number.to_be_bytes());
        }
        // The last but one: 5 with an exponent of 1.
        for number in [1u16, 2, 900, 0, 0, 120, 0x2005, 0] {
            put(&number.to_be_bytes());
        }
        out.extend(b"true\0\0\0\0\0\0\0\0\0\0\0\0");
        out
    }

    #[test]
    fn a_record_in_both_orders() {
        let numbers = [
            2.0,
            3.0,
            34817.0,
            256.0,
            1000.0,
            100.0,
            4242.0,
            4241.0,
            1_700_000_000.0,
            1.5,
            1.0,
            2.0,
            900.0,
            0.0,
            0.0,
            120.0,
            40.0,
            0.0,
        ];
        for is_big in [false, true] {
            assert_eq!(read(&record(is_big)), Ok(Accounted { numbers, command: b"true" }), "{is_big}");
        }
        assert_eq!(expanded(0xffff), 0x1fff << 21);
    }

    #[test]
    fn what_is_no_record() {
        let mut old = record(false);
        old[1] = 2;
        assert_eq!(read(&old), Err(Unreadable::Version(2)));
        assert_eq!(read(&record(false)[..63]), Err(Unreadable::Cut));
        let mut long = record(false);
        long[48..].fill(b'x');
        assert_eq!(read(&long).map(|read| read.command.len()), Ok(16));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_record_or_none(bytes in prop::collection::vec(any::<u8>(), 0..130)) {
            if let Ok(read) = read(&bytes) {
                prop_assert!(bytes.len() == RECORD_BYTES && read.command.len() <= 16);
                prop_assert!(read.numbers.iter().all(|number| number.is_finite()));
            }
        }
    }
}
