//! Files that grow while they are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dsh_fs::FsErrorCode::{StaleVersion, TooLarge};
use dsh_fs::FsVersion;

use crate::race::{Rivalry, beside};
use crate::{Case, Ground, refused};

/// How much is appended at a time. Part of a page of memory, so that no disk shows a part of it.
const STEP: usize = 32;

/// How large the file grows.
const MOST: usize = STEP * 4_000;

/// The bytes of the file when it is grown: what stands at a place depends on the place.
fn grown() -> Arc<[u8]> {
    (0..MOST).map(|at| b'a' + u8::try_from(at * at % 23).unwrap_or(0)).collect()
}

/// How far a file has surely grown, and how far it has perhaps.
#[derive(Clone, Default)]
struct Growth(Arc<[AtomicUsize; 2]>);

impl Growth {
    fn sure(&self) -> usize {
        self.0[0].load(Ordering::SeqCst)
    }

    fn perhaps(&self) -> usize {
        self.0[1].load(Ordering::SeqCst)
    }

    /// Appends until it is told to stop or the file is grown.
    async fn go_on(self, ground: Arc<dyn Ground>, rivalry: Rivalry) {
        let bytes = grown();
        while rivalry.goes_on().await && self.sure() < MOST {
            let (from, to) = (self.sure(), self.sure() + STEP);
            self.0[1].store(to, Ordering::SeqCst);
            ground.append("a.txt", &bytes[from..to]).await;
            self.0[0].store(to, Ordering::SeqCst);
        }
    }
}

/// A file that only grows is read to an end that it had during the call, by whatever way.
pub async fn a_growing_file_is_read_to_an_end_that_it_had(case: &Case) {
    let (target, ground, growth) = (case.file("a.txt", "").await, case.ground.clone(), Growth::default());
    let (growing, expected) = (growth.clone(), grown());
    let ((), ()) = beside(
        |rivalry| growing.go_on(ground, rivalry),
        async |_| {
            for round in 0.. {
                let least = growth.sure();
                let bytes = match round % 3 {
                    0 => case.read(&target).await.text.into_bytes(),
                    1 => case.stream(&target).await.unwrap().text.into_bytes(),
                    _ => case.fs.read_bytes(&target, 1 << 40, &case.call).await.unwrap().bytes,
                };
                let most = growth.perhaps();
                assert!((least..=most).contains(&bytes.len()), "{} of {least} to {most} bytes", bytes.len());
                assert_eq!(bytes.len() % STEP, 0, "a part of the file");
                assert!(bytes == expected[..bytes.len()], "the bytes are not those of the file");
                if least == MOST {
                    return;
                }
            }
        },
    )
    .await;
}

/// A limit is kept beside growth: never more bytes than it, never a part of them.
pub async fn a_limit_is_kept_while_a_file_grows(case: &Case) {
    let (target, ground, growth) = (case.file("a.txt", "").await, case.ground.clone(), Growth::default());
    let (growing, expected) = (growth.clone(), grown());
    let (versions, ()) = beside(
        |rivalry| growing.go_on(ground, rivalry),
        async |_| {
            let mut versions: Vec<(usize, FsVersion)> = Vec::new();
            for round in 0.. {
                let least = growth.sure();
                if least == MOST {
                    break;
                }
                // Just above what it has: it may or may not grow beyond that in time.
                let max = least + [0, 1, STEP - 1, STEP, STEP * 5][round % 5];
                match case.fs.read_bytes(&target, max as u64, &case.call).await {
                    Ok(read) => {
                        let len = read.bytes.len();
                        assert!(len <= max, "{len} bytes, more than {max}");
                        assert!(len >= least, "cut to {len} bytes of at least {least}");
                        assert_eq!(len % STEP, 0, "a part of the file, cut at {max}");
                        assert!(read.bytes == expected[..len], "the bytes are not those of the file");
                        versions.push((len, read.version));
                    }
                    Err(error) => {
                        assert_eq!(error.code(), TooLarge, "{error}");
                        assert!(growth.perhaps() > max, "{} bytes are not more than {max}", growth.perhaps());
                    }
                }
            }
            versions
        },
    )
    .await;
    // Of what has grown since they license no replacement.
    for (len, version) in versions.into_iter().filter(|(len, _)| *len < MOST).take(20) {
        refused(case.replace(&target, &len.to_string(), &version).await, StaleVersion);
    }
}
