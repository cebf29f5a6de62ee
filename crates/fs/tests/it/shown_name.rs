use dsh_fs::shown_name::{is_marked, shown};

#[test]
fn plain_names_stay_as_they_are() {
    for name in
        ["a.txt", " lead", "trail ", "-rf", "日本.ts", "it's", "back\\slash", "e\u{301}", "", "\u{1F600}"]
    {
        assert_eq!(shown(name.as_bytes()), name);
        assert!(!is_marked(name));
    }
}

#[test]
fn others_are_one_escaped_and_marked_line() {
    for (name, expected) in [
        (&b"a\nb.txt"[..], "a\\nb.txt (name escaped)"),
        (b"x\x1B]0;p\x07.txt", "x\\u{1b}]0;p\\u{7}.txt (name escaped)"),
        (b"bad-\xFF", "bad-\\xff (name escaped)"),
        (b"\xE6\x97\xA5\xE6\x97", "日\\xe6\\x97 (name escaped)"),
        (b"a\\b\rc", "a\\\\b\\rc (name escaped)"),
        (b"del\x7F\xC2\x85", "del\\u{7f}\\u{85} (name escaped)"),
    ] {
        assert_eq!(shown(name), expected);
        assert!(is_marked(&shown(name)));
    }
}
