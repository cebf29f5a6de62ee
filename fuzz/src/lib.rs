//! How inputs are written: an input is bytes, and several targets need more than one value.
//!
//! The forms are simple enough for a seed to be written by hand, and every input has a meaning, so that no time is
//! lost on inputs that a target throws away.

/// Stands between two texts of an input. UTF-8 never holds it.
pub const SEPARATOR: u8 = 0xFF;

/// Takes `N` numbers off the front, a byte each; what is missing is 0.
pub fn numbers<const N: usize>(input: &[u8]) -> ([u8; N], &[u8]) {
    let (head, rest) = input.split_at(input.len().min(N));
    let mut numbers = [0; N];
    numbers[..head.len()].copy_from_slice(head);
    (numbers, rest)
}

/// Takes the sizes of pieces off the front: how many sizes (modulo 8), then each as a byte.
pub fn sizes(input: &[u8]) -> (&[u8], &[u8]) {
    let Some((&count, rest)) = input.split_first() else { return (&[], &[]) };
    rest.split_at(rest.len().min(usize::from(count % 8)))
}

/// Where to cut `len` bytes into pieces of these sizes, again and again: ascending, `len` last. Without a size it is
/// one piece.
pub fn cuts(sizes: &[u8], len: usize) -> Vec<usize> {
    let mut cuts = Vec::new();
    if sizes.iter().any(|&size| size > 0) {
        let mut at = 0;
        let ends = sizes.iter().cycle().map(|&size| {
            at += usize::from(size);
            at
        });
        cuts.extend(ends.take_while(|&end| end < len));
    }
    cuts.push(len);
    cuts
}

/// The texts between separators, `N` of them; what is not UTF-8 is replaced, what is missing is empty.
pub fn texts<const N: usize>(input: &[u8]) -> [String; N] {
    let mut parts = input.splitn(N, |&byte| byte == SEPARATOR);
    std::array::from_fn(|_| String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned())
}
