//! The body of a request: whole, or refused.

use std::time::Duration;

use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt as _;
use tokio::time::timeout;

use crate::refused::Refused;

/// How long a body may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Of a body that is too long, how much is read and thrown away. A client that is still sending when the answer comes
/// mostly does not see it.
const MOST_WASTE: usize = 64 << 20;

/// The whole body, of `limit` bytes at most.
pub(crate) async fn whole<B: Body<Data = Bytes> + Unpin>(body: B, limit: usize) -> Result<Bytes, Refused> {
    let late =
        |_| Refused::slow(format!("the request did not come to its end within {} s", PATIENCE.as_secs()));
    timeout(PATIENCE, read(body, limit)).await.map_err(late)?
}

async fn read<B: Body<Data = Bytes> + Unpin>(mut body: B, limit: usize) -> Result<Bytes, Refused> {
    // Declared longer than is worth throwing away: it is not waited for.
    let most = limit.saturating_add(MOST_WASTE);
    if usize::try_from(body.size_hint().lower()).map_or(true, |declared| declared > most) {
        return Err(Refused::too_long(limit));
    }
    let mut kept = Vec::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return Err(Refused::malformed("BROKEN", "the request broke off"));
        };
        let Ok(data) = frame.into_data() else { continue };
        length += data.len();
        if length <= limit {
            kept.extend_from_slice(&data);
        } else if length <= most {
            kept = Vec::new();
        } else {
            break;
        }
    }
    if length <= limit { Ok(kept.into()) } else { Err(Refused::too_long(limit)) }
}
