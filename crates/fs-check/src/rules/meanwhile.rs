//! Files that change while they are read: text and version belong together. (Files that only grow: `growth`.)

use std::sync::Arc;

use dsh_fs::FsErrorCode::{NotText, StaleVersion};
use dsh_fs::text::BOM;
use dsh_fs::{FsCall, FsError, FsTarget, ResumePoint, TextChunk, TextRead, TextStream};

use crate::race::{Rivalry, beside};
use crate::{Case, Ground, refused};

/// How many reads are taken, and how many rounds the rival has at least.
const ROUNDS: usize = 40;

/// A text of many blocks, its lines numbered; `\u{e9}` so that a torn one may be no text.
fn lines(word: &str, count: usize) -> String {
    let mut text = String::new();
    for n in 0..count {
        text.extend([word, " \u{e9} ", &n.to_string(), "\r\n"]);
    }
    text
}

/// Asserts that a version stands for the bytes that gave a text and for no others.
async fn belongs(case: &Case, target: &FsTarget, name: &str, TextRead { text, version }: &TextRead) {
    let (plain, marked) = (text.as_bytes().to_vec(), [BOM, text.as_bytes()].concat());
    for other in [[&plain, &b"x"[..]].concat(), [&marked, &b"\n"[..]].concat()] {
        case.put(name, other).await;
        refused(case.replace(target, "other", version).await, StaleVersion);
    }
    let mut held = 0;
    // The text does not tell whether there was a byte order mark. The version does.
    for bytes in [plain, marked] {
        case.put(name, &bytes).await;
        if let Err(error) = case.replace(target, "next", version).await {
            assert_eq!(error.code(), StaleVersion, "{error}");
            assert!(case.ground.bytes(name).await.unwrap() == bytes, "a refused write changed the file");
        } else {
            held += 1;
        }
    }
    assert_eq!(held, 1, "the version is not that of the {} bytes of text it came with", text.len());
}

/// Reads again and again, whole and in pieces, while somebody changes the file; gives the different reads, two of a kind.
async fn reads_beside(case: &Case, target: &FsTarget, rival: &Rivalry) -> Vec<TextRead> {
    let mut reads: Vec<TextRead> = Vec::new();
    for round in 0.. {
        if round >= ROUNDS && rival.rounds() >= ROUNDS {
            break;
        }
        let read = if round % 2 == 0 {
            case.fs.read_text(target, &case.call).await
        } else {
            case.stream(target).await
        };
        match read {
            Ok(read) => {
                if reads.iter().filter(|other| other.text == read.text).count() < 2 {
                    reads.push(read);
                }
            }
            // Torn in the middle of a character.
            Err(error) => assert_eq!(error.code(), NotText, "{error}"),
        }
        tokio::task::yield_now().await;
    }
    reads
}

/// A stranger who goes through all the ways of changing a file.
async fn stranger(ground: Arc<dyn Ground>, rivalry: Rivalry) {
    let (short, long) = (lines("short", 2_000), lines("long", 4_000));
    while rivalry.goes_on().await {
        ground.put("a.txt", short.as_bytes()).await;
        ground.append("a.txt", b"appended\n").await;
        ground.replace("a.txt", &[BOM, short.as_bytes()].concat()).await;
        ground.put("a.txt", long.as_bytes()).await;
        ground.put("a.txt", b"").await;
        ground.replace("a.txt", long.to_uppercase().as_bytes()).await;
    }
}

/// What is read while a stranger overwrites, appends, truncates and replaces comes with the version of just that.
pub async fn text_and_version_belong_together(case: &Case) {
    let (target, ground) = (case.file("a.txt", "start").await, case.ground.clone());
    let (reads, ()) =
        beside(|rivalry| stranger(ground, rivalry), async |rival| reads_beside(case, &target, rival).await)
            .await;
    for read in &reads {
        belongs(case, &target, "a.txt", read).await;
    }
}

/// What is read while the backend itself overwrites is one of the texts, with its version.
pub async fn text_and_version_belong_together_beside_own_writes(case: &Case) {
    let texts = [lines("short", 2_000), lines("long", 4_000)];
    let target = case.file("a.txt", [BOM, texts[0].as_bytes()].concat()).await;
    let (fs, own, ours) = (case.fs.clone(), target.clone(), texts.clone());
    let writing = async move |rivalry: Rivalry| {
        while rivalry.goes_on().await {
            let text = &ours[rivalry.rounds() % 2];
            fs.write_text(&own, text, None, &FsCall::new()).await.unwrap();
        }
    };
    let (reads, ()) = beside(writing, async |rival| reads_beside(case, &target, rival).await).await;
    for read in &reads {
        assert!(texts.contains(&read.text), "a reader saw {} bytes that are neither text", read.text.len());
        belongs(case, &target, "a.txt", read).await;
    }
}

/// A version that was read while a stranger was at work replaces the text that it came with, or nothing.
pub async fn a_version_read_meanwhile_licenses_no_other_text(case: &Case) {
    let (target, ground) = (case.file("a.txt", "start").await, case.ground.clone());
    let texts = [lines("one", 200), lines("two", 200)];
    let rival = async move |rivalry: Rivalry| {
        while rivalry.goes_on().await {
            ground.replace("a.txt", texts[rivalry.rounds() % 2].as_bytes()).await;
            // Long enough for a mutation to come between, now and then.
            for _ in 0..rivalry.rounds() % 5 * 10 {
                tokio::task::yield_now().await;
            }
        }
    };
    let ((), ()) = beside(rival, async |rival| {
        for round in 0.. {
            if round >= ROUNDS && rival.rounds() >= ROUNDS {
                break;
            }
            let read = case.read(&target).await;
            match case.replace(&target, &format!("mine {round}\r\n"), &read.version).await {
                Ok(outcome) => assert_eq!(outcome.before.unwrap(), read.text.replace("\r\n", "\n").into()),
                Err(error) => assert_eq!(error.code(), StaleVersion, "{error}"),
            }
        }
    })
    .await;
}

/// A file that a stranger changes between two pieces of a stream: it ends with the version of what it gave, or fails.
pub async fn a_stream_tells_the_version_of_what_it_told(case: &Case) {
    // Some blocks, whatever a block may be.
    let text = lines("line", 160_000);
    for change in 0..5 {
        let name = format!("{change}.txt");
        let target = case.file(&name, [BOM, text.as_bytes()].concat()).await;
        let stream = case.fs.stream_text(&target, None, &case.call).await.unwrap();
        let told = rest(stream, async || match change {
            0 => case.ground.append(&name, "one line more\n".repeat(200_000).as_bytes()).await,
            1 => case.ground.replace(&name, text.to_uppercase().as_bytes()).await,
            2 => case.put(&name, text.to_uppercase()).await,
            3 => case.put(&name, "cut off").await,
            _ => case.ground.remove(&name).await,
        })
        .await;
        if let Ok(read) = told {
            belongs(case, &target, &name, &read).await;
        }
    }
}

/// The rest of a stream, with something that happens after its first piece.
async fn rest(stream: TextStream, after_the_first: impl AsyncFnOnce()) -> Result<TextRead, FsError> {
    let TextStream::Open(mut chunks) = stream else {
        panic!("a stream from the start must not answer Changed")
    };
    let mut text = String::new();
    match chunks.next().await? {
        TextChunk::Text { text: piece, .. } => text.push_str(piece),
        TextChunk::End(version) => return Ok(TextRead { text, version }),
    }
    after_the_first().await;
    loop {
        match chunks.next().await? {
            TextChunk::Text { text: piece, .. } => text.push_str(piece),
            TextChunk::End(version) => return Ok(TextRead { text, version }),
        }
    }
}

/// A file that is changed behind a resumed stream is not passed off as the old one.
pub async fn a_resumed_stream_is_not_continued_in_another_text(case: &Case) {
    let text = lines("line", 160_000);
    let mut froms = Vec::new();
    for change in 0..3 {
        case.put(&format!("{change}.txt"), &text).await;
    }
    case.ground.settle().await;
    for change in 0..3 {
        let version = case.stream(&case.target(&format!("{change}.txt")).await).await.unwrap().version;
        froms.push(ResumePoint { offset: text.find('\n').unwrap() as u64 + 1, version });
    }
    for (change, from) in froms.iter().enumerate() {
        let name = format!("{change}.txt");
        let stream = case.fs.stream_text(&case.target(&name).await, Some(from), &case.call).await.unwrap();
        let TextStream::Open(mut chunks) = stream else { continue };
        let mut next = usize::try_from(from.offset).unwrap();
        let mut changed = false;
        // Whoever asks may stop at any chunk, so each has to be right, not only all of them.
        let version = loop {
            match chunks.next().await {
                Ok(TextChunk::Text { at, text: piece }) => {
                    assert_eq!(at, next as u64);
                    assert!(text[next..].starts_with(piece), "another text was told under the old version");
                    next += piece.len();
                }
                Ok(TextChunk::End(version)) => break Some(version),
                Err(_) => break None,
            }
            if !std::mem::replace(&mut changed, true) {
                match change {
                    0 => case.put(&name, text.to_uppercase()).await,
                    1 => case.ground.append(&name, "one line more\n".repeat(200_000).as_bytes()).await,
                    _ => case.put(&name, "cut off").await,
                }
            }
        };
        if let Some(version) = version {
            assert_eq!((next, version), (text.len(), from.version.clone()));
        }
    }
}
