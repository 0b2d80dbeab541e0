//! Every example of the manual.

use super::check;

#[test]
fn of_every_function() {
    for function in crate::functions() {
        assert!(!function.examples.is_empty(), "{} has no example", function.name);
        for (text, expected) in function.examples {
            check(text, expected);
        }
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<&str> = crate::functions().map(|f| f.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}
