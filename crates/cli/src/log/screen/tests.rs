use super::{Screen, visible};
use crate::log::card::{Line, Tone};

#[test]
fn what_would_steer_the_terminal_is_shown_instead() {
    assert_eq!(
        visible("a\u{1b}[31mb\r\u{7f}\u{9b}\u{202e}\tc"),
        "a\\u{1b}[31mb\\u{d}\\u{7f}\\u{9b}\\u{202e}    c"
    );
    assert_eq!(visible("grün 你好"), "grün 你好");
}

#[test]
fn lines_are_cut_to_the_width_and_coloured_by_what_they_are() {
    let screen = |colours, width| Screen { colours, width, most: 20 };
    let line = Line::new(Tone::Added, "+ äbcdef");
    assert_eq!(screen(false, None).line("  ", &line), "  + äbcdef\n");
    assert_eq!(screen(false, Some(10)).line("  ", &line), "  + äbcdef\n");
    assert_eq!(screen(false, Some(9)).line("  ", &line), "  + äbcd…\n");
    assert_eq!(screen(true, Some(9)).line("  ", &line), "\u{1b}[32m  + äbcd…\u{1b}[0m\n");
    assert_eq!(screen(true, None).line("", &Line::new(Tone::Plain, "x")), "x\n");
}
