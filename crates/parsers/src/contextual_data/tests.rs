use crate::testing::{build, check, check_codes};

pub const FILES: &[(&str, &str)] = &[
    (
        "hosts.csv",
        "web,role,front\nweb,n,int(5)\n\ndb,role,\"a, \"\"b\"\"\"\r\nweb,msg,$MESSAGE!\nweb, blanks , v v \nunknown,role,none\nweb,role,last\n",
    ),
    ("chain.csv", "a,x,$MESSAGE-1\na,y,${x}-2\na,MESSAGE,new\na,z,$MESSAGE\n"),
    ("globs.csv", "a*,n,star\nab,n,exact\nA?x,n,question\n*,m,all\n"),
    ("filters.csv", "f2,n,two\nf1,n,one\nf4,n,four\ngone,n,never\n"),
    (
        "filters.conf",
        "@version: 4.0\nfilter f1 { message('ab'); }; filter f2 { message('a'); }; filter f3 { message('zz'); };\nfilter f4 { filter(f3) or message('yy'); };\n",
    ),
    ("wrong.conf", "@version: 4.0\nfilter f1 { nonsense('ab'); };\nsource s { internal(); };\n"),
    ("wrong.csv", "a,b,c\na,b\na,b,c,d\na,,c\na,b,$(nosuch)\na,b,foo(x)\na,MSGID_,x\na,DATE,x\na,b,\n"),
    ("latin.csv", "a,b,\u{fffd}\n"),
    ("empty.csv", ""),
];

fn parser(options: &str) -> String {
    format!("add-contextual-data({options})")
}

#[test]
fn a_text_is_looked_up() {
    let plain = parser("selector('$MESSAGE') database('hosts.csv') prefix('h.')");
    check(&plain, "web", "h.blanks=v v|h.msg=web!|h.n=int:5|h.role=last");
    check(&plain, "db", "h.role=a, \"b\"");
    check(&plain, "WEB", "");
    check(&plain, "nosuch", "");
    let default =
        parser("selector('$MESSAGE') database('hosts.csv') prefix('h.') default-selector('unknown')");
    check(&default, "nosuch", "h.role=none");
    check(&default, "db", "h.role=a, \"b\"");
    let icase = parser("selector('$MESSAGE') database('hosts.csv') prefix('h.') ignore-case(yes)");
    check(&icase, "DB", "h.role=a, \"b\"");
    check(&parser("selector('<$MESSAGE>') database('hosts.csv')"), "db", "");
    check(&parser("selector('d$MESSAGE') database('hosts.csv') prefix('h.')"), "b", "h.role=a, \"b\"");
    check(&parser("selector('$MESSAGE') database('empty.csv')"), "db", "");
}

#[test]
fn a_row_sees_those_before_it() {
    let (made, codes, _) = build(&parser("selector('$MESSAGE') database('chain.csv')"));
    let mut batch = crate::testing::batch(&[b"a"]);
    let mut selection = vec![0];
    made.unwrap_or_else(|| panic!("{codes:?}")).parse(
        &mut batch,
        &mut selection,
        &mut crate::testing::context(),
    );
    assert_eq!(crate::testing::values(&batch, 0), "x=a-1|y=a-1-2|z=new");
    assert_eq!(batch.bytes(batch.records[0].message), b"new");
}

#[test]
fn the_first_glob_counts() {
    let globs = parser("selector(glob('$MESSAGE')) database('globs.csv')");
    for (input, expected) in [("ab", "n=star"), ("Abx", "n=question"), ("[x", "m=all"), ("", "m=all")] {
        check(&globs, input, expected);
    }
    check(&parser("selector(glob('$MESSAGE')) database('globs.csv') ignore-case(yes)"), "ABX", "n=star");
}

#[test]
fn the_first_filter_of_the_database_counts() {
    let filters = parser("selector(filters('filters.conf')) database('filters.csv') default-selector('f1')");
    for (input, expected) in
        [("ab", "n=two"), ("ax", "n=two"), ("zz", "n=four"), ("yy", "n=four"), ("qq", "n=one")]
    {
        check(&filters, input, expected);
    }
    assert_eq!(build(&filters).1, ["A0105"], "a filter that is missing is a warning");
}

#[test]
fn what_is_wrong_is_said() {
    for (options, codes) in [
        ("selector('$HOST')", &["A0102"][..]),
        ("database('hosts.csv')", &["A0102"]),
        ("selector('$HOST') database('hosts.txt')", &["A0102"]),
        ("selector('$HOST') database('nosuch.csv')", &["A0105"]),
        ("selector('$(') database('hosts.csv')", &["A0101"]),
        ("selector(other('x')) database('hosts.csv')", &["A0102"]),
        ("selector(filters('nosuch')) database('filters.csv')", &["A0105"]),
        ("selector(filters('wrong.conf')) database('filters.csv')", &["A0105", "A0105", "A0105"]),
    ] {
        let (made, found, _) = build(&parser(options));
        assert!(made.is_none(), "{options}");
        assert!(
            found.len() >= codes.len() && found.ends_with(&codes[codes.len() - 1..]),
            "{options}: {found:?}"
        );
    }
    check_codes(&parser("selector('$HOST') database('wrong.csv')"), &["A0105"; 7]);
}
