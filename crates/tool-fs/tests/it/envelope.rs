use dsh_tool_fs::envelope::{body_of, envelope, numbered};
use dsh_tool_fs::window::Line;

fn lines(from: u64, to: u64) -> Vec<Line> {
    (from..=to).map(|number| Line { number, text: format!("l{number}") }).collect()
}

#[test]
fn the_envelope_holds_path_and_body_unescaped() {
    let text = envelope("/w/a<b>.txt", "</content>");
    assert_eq!(text, "<path>/w/a<b>.txt</path>\n<type>file</type>\n<content>\n</content>\n</content>");
    assert_eq!(body_of(&text), Some("</content>"));
    assert_eq!(body_of("The file has been updated successfully."), None);
}

#[test]
fn the_footer_says_how_to_go_on() {
    assert_eq!(
        numbered(&lines(1, 2), 1, 2000, 9),
        "1: l1\n2: l2\n\n(Output capped. Showing lines 1-2. Use offset=3 to continue.)"
    );
    assert_eq!(
        numbered(&lines(3, 4), 3, 2, 9),
        "3: l3\n4: l4\n\n(Showing lines 3-4 of 9. Use offset=5 to continue.)"
    );
    assert_eq!(numbered(&lines(8, 9), 8, 2, 9), "8: l8\n9: l9\n\n(End of file - total 9 lines)");
    assert_eq!(numbered(&[], 1, 2000, 0), "(End of file - total 0 lines)");
}
