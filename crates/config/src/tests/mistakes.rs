//! Mistakes in TOML are named in plain words, with line, column and the remedy.

use super::{BASE, bad};

/// Each line, appended to `BASE` with its six lines, makes this error.
fn each(cases: &[(&str, &str)]) {
    for (line, error) in cases {
        let found = bad(&format!("{BASE}{line}"), &[]);
        assert_eq!(found, format!("s.toml:7:{error}"), "{line}");
    }
}

#[test]
fn what_is_missing_is_named() {
    each(&[
        ("footprint_share = \"a\n", "21: not TOML: the closing \" of a string is missing"),
        ("footprint_share = 'a\n", "21: not TOML: the closing ' of a string is missing"),
        ("seed 3\n", "6: not TOML: = is missing before 3; write KEY = VALUE"),
        (
            "seed: 3\n",
            "5: not TOML: : cannot be in a key; write KEY = VALUE, or # before a comment",
        ),
        ("seed\n", "5: not TOML: = is missing before the end of the line; write KEY = VALUE"),
        ("seed =\n", "7: not TOML: a value is missing behind =; write KEY = VALUE"),
        ("[timing\n", "8: not TOML: the name of a section lacks its closing ]"),
        ("queues = [1, 2", "15: not TOML: a list lacks its closing ]"),
        ("queues = [1\n", "12: not TOML: a list lacks its closing ]"),
        ("policy = rps\n", "10: not TOML: text must be in quotes: write \"rps\""),
        ("t_us = 50 us\n", "8: not TOML: text must be in quotes: write \"50 us\""),
    ]);
    // The list goes on in the next line.
    assert_eq!(
        bad(&format!("{BASE}queues = [1, 2\nseed = 3\n"), &[]),
        "s.toml:8:1: not TOML: a list lacks its closing ], or a comma before seed = 3"
    );
}

#[test]
fn what_is_too_much_is_named() {
    each(&[
        ("requests = 7\n", "1: not TOML: requests stands twice; leave one out"),
        ("[workload]\n", "2: not TOML: workload stands twice; leave one out"),
        ("seed = 1,000\n", "9: not TOML: a number has no comma: write 1000 for 1,000"),
        (
            "seed = 1,000,000 # x\n",
            "9: not TOML: a number has no comma: write 1000000 for 1,000,000",
        ),
        ("share = 0,5\n", "10: not TOML: a number has no comma: write 0.5 for 0,5"),
        ("[timing]]\n", "9: not TOML: ] must not follow the value; begin a new line"),
        ("a = \"x\" b = 2\n", "9: not TOML: b = 2 must not follow the value; begin a new line"),
    ]);
}

#[test]
fn other_spellings_of_values_are_named() {
    let words = "must be true or false in small letters, or";
    each(&[
        ("a = True\n", &format!("5: not TOML: True {words} \"True\" in quotes")),
        ("a = FALSE\n", &format!("5: not TOML: FALSE {words} \"FALSE\" in quotes")),
        ("a = fast\n", &format!("5: not TOML: fast {words} \"fast\" in quotes")),
        ("a = None\n", "5: not TOML: None must be a number, or \"None\" in quotes"),
        ("a = “x”\n", "5: not TOML: text must be in quotes: write \"x\""),
        (
            "a = \"C:\\dir\"\n",
            "9: not TOML: \\ begins a special character; write \\\\, or the string in '…'",
        ),
        // A rare one, in the parser's words.
        ("a = 01\n", "5: not TOML: unexpected leading zero, expected nothing"),
    ]);
}

#[test]
fn the_first_mistake_is_named_and_its_column_counts_letters() {
    let text = "name = \"µµ\" x\nseed = True\n";
    assert_eq!(
        bad(text, &[]),
        "s.toml:1:13: not TOML: x must not follow the value; begin a new line"
    );
    assert_eq!(
        bad(BASE, &["workload.queues=[1, 2"]),
        "--set: workload.queues = [1, 2: not a TOML value: a list lacks its closing ]"
    );
    assert_eq!(
        bad(BASE, &["name=\"abc"]),
        "--set: name = \"abc: not a TOML value: the closing \" of a string is missing"
    );
}
