//! Finds the `id` of a JSON-RPC message that cannot be parsed, because it is too long to be kept or not valid JSON.
//!
//! Clients put the id last (`method`, `params`, `jsonrpc`, `id`) as often as first, so the whole message is looked at,
//! byte by byte as it goes past, and nothing of it is kept but the member names of the outermost object.

use rmcp::model::RequestId;

/// Longer names and ids are not looked at.
const MAX_TOKEN: usize = 256;

/// Takes a message in pieces; [`found`](Self::found) has the id as soon as it has gone past.
#[derive(Default)]
pub(crate) struct IdScan {
    depth: u32,
    /// Inside a string, at any depth.
    in_string: bool,
    /// The byte after a backslash.
    escaped: bool,
    /// The outermost object's member name, once its colon has been seen.
    name: Option<Vec<u8>>,
    /// The string, number or word being read at depth 1, quotes included.
    token: Vec<u8>,
    found: Option<RequestId>,
}

impl IdScan {
    /// The id in a message that is at hand.
    pub(crate) fn of(message: &[u8]) -> Option<RequestId> {
        let mut scan = Self::default();
        scan.feed(message);
        scan.found()
    }

    pub(crate) fn found(self) -> Option<RequestId> {
        self.found
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.found.is_some() {
                return;
            }
            self.step(byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.token.clear();
            }
            b'}' | b']' => {
                self.end_member();
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => self.name = Some(std::mem::take(&mut self.token)),
            b',' => self.end_member(),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= MAX_TOKEN {
            self.token.push(byte);
        }
    }

    fn end_member(&mut self) {
        if self.depth != 1 {
            return;
        }
        let value = std::mem::take(&mut self.token);
        if self.name.take().as_deref() == Some(b"\"id\"") {
            self.found = serde_json::from_slice(&value).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(message: &str) -> Option<String> {
        let whole = IdScan::of(message.as_bytes());
        let mut pieces = IdScan::default();
        message.as_bytes().chunks(1).for_each(|byte| pieces.feed(byte));
        assert_eq!(whole, pieces.found(), "one piece and many pieces agree");
        whole.map(|id| id.to_string())
    }

    #[test]
    fn the_id_is_found_first_and_last_and_as_text() {
        assert_eq!(id(r#"{"id": 7, "method": "x"}"#).as_deref(), Some("7"));
        assert_eq!(
            id(r#"{"method":"x","params":{"a":[1,{}]},"jsonrpc":"2.0","id":12}"#).as_deref(),
            Some("12")
        );
        assert_eq!(id(r#"{"id":"a\"b"}"#).as_deref(), Some("a\"b"));
    }

    #[test]
    fn ids_elsewhere_are_not_mistaken_for_it() {
        assert_eq!(id(r#"{"params":{"id":1},"x":"\"id\":2,","id":3}"#).as_deref(), Some("3"));
        assert_eq!(id(r#"{"params":{"id":1}}"#), None);
        assert_eq!(id(r#"[{"id":1}]"#), None);
    }

    #[test]
    fn it_is_found_in_a_message_that_is_not_json() {
        assert_eq!(id(r#"{"id":4,"params":{"path":"\ud800"}}"#).as_deref(), Some("4"));
        assert_eq!(id(r#"{"id":4,"params":"#).as_deref(), Some("4"));
        assert_eq!(id("not json at all"), None);
    }

    #[test]
    fn what_is_no_id_is_not_one() {
        assert_eq!(id(r#"{"id":null,"method":"x"}"#), None);
        assert_eq!(id(r#"{"id":1.5}"#), None);
        assert_eq!(id(r#"{"id":{"id":1}}"#), None);
    }
}
