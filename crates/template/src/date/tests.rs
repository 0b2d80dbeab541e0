//! What is remembered of a time against formatting it anew.

use super::*;
use proptest::prelude::*;

const KINDS: [DateKind; 10] = [
    DateKind::Bsd,
    DateKind::Full,
    DateKind::Iso,
    DateKind::Unix,
    DateKind::Year,
    DateKind::Hour,
    DateKind::Min,
    DateKind::Sec,
    DateKind::TzOffset,
    DateKind::Week,
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn remembering_changes_nothing(
        kinds in prop::collection::vec(prop::sample::select(&KINDS[..]), 1..4),
        digits in 0u8..4,
        offsets in prop::sample::select(&[[0, 3600], [19_800, 20_700], [-1800, 45]][..]),
        times in prop::collection::vec((-8000i64..8000, 0usize..2), 1..60),
    ) {
        let date = |kind: &DateKind| Date::new(*kind, Clock::Message, 0, None);
        let first = Date::new(kinds[0], Clock::Message, digits, None);
        let date = kinds[1..].iter().fold(first, |all, kind| all.followed_by(b", ", &date(kind)).unwrap_or(all));
        let mut cache = DateCache::new(&date);
        for (secs, offset) in times {
            let stamp = Stamp { secs, usec: 120_034, offset: offsets[offset] };
            let printed = |cache: &mut DateCache| {
                let mut out = Vec::new();
                cache.write(&date, &stamp, &mut Sink::new(&mut out, &[]));
                String::from_utf8_lossy(&out).into_owned()
            };
            prop_assert_eq!(printed(&mut cache), printed(&mut DateCache::new(&date)));
        }
    }
}
