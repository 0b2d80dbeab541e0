//! "did you mean": the candidate with the smallest edit distance to a name.

/// Longer names are not compared: the cost is quadratic and nobody mistypes into them.
const NAME_BYTES_MAX: usize = 80;

/// The candidate nearest to `name`, if one is near enough to be meant. `-` and `_` are the same, case is
/// ignored.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = fold(name);
    if wanted.is_empty() || wanted.len() > NAME_BYTES_MAX {
        return None;
    }
    // A third of the letters may be wrong: `fliter` finds `filter`, `x` finds nothing.
    let limit = (wanted.len() / 3).clamp(1, 4);
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        let folded = fold(candidate);
        if folded.len() > NAME_BYTES_MAX || folded.len().abs_diff(wanted.len()) > limit {
            continue;
        }
        let distance = distance(&wanted, &folded);
        if distance <= limit && distance < wanted.len() && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn fold(name: &str) -> Vec<u8> {
    name.bytes().map(|b| if b == b'_' { b'-' } else { b.to_ascii_lowercase() }).collect()
}

/// Edit distance where swapping two neighbours costs one.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let width = b.len() + 1;
    let mut before: Vec<usize> = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for (i, &ca) in a.iter().enumerate() {
        let mut row = vec![i + 1; width];
        for (j, &cb) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(ca != cb)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && ca == b[j - 1] && a[i - 1] == cb {
                best = best.min(before[j - 1] + 1);
            }
            row[j + 1] = best;
        }
        before = std::mem::replace(&mut last, row);
    }
    last[width - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: Option<&str>) {
        let known = ["source", "destination", "filter", "parser", "rewrite", "keep-hostname", "log", "tcp"];
        assert_eq!(nearest(name, known), expected, "{name}");
    }

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        check("sorce", Some("source"));
        check("fliter", Some("filter"));
        check("keep_hostnme", Some("keep-hostname"));
        check("keep_hostname", Some("keep-hostname"));
        check("FILTER", Some("filter"));
        check("lgo", Some("log"));
        check("x", None);
        check("", None);
        check("kafka", None);
        check(&"a".repeat(5000), None);
    }
}
