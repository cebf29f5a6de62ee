use super::*;

#[tokio::test]
async fn a_line_is_gone_when_nobody_is_in_it() {
    let key = TargetKey::new(*b"/lock/idle");
    let first = acquire(&key, FsOp::Write, &FsCall::new()).await.ok();
    let call = FsCall::new();
    let second = tokio::spawn({
        let (key, call) = (key.clone(), call.clone());
        async move { acquire(&key, FsOp::Write, &call).await.map(drop) }
    });
    while table().get(&key).is_none_or(|line| line.people < 2) {
        tokio::task::yield_now().await;
    }
    call.cancel.cancel();
    assert!(second.await.is_ok_and(|result| result.is_err()));
    assert_eq!(table().get(&key).map(|line| line.people), Some(1));
    drop(first);
    assert!(!table().contains_key(&key));
}

#[tokio::test]
async fn a_dropped_wait_leaves_the_line() {
    let key = TargetKey::new(*b"/lock/dropped");
    let first = acquire(&key, FsOp::Edit, &FsCall::new()).await.ok();
    let call = FsCall::new();
    let mut wait = Box::pin(acquire(&key, FsOp::Edit, &call));
    let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(wait.as_mut().poll(cx).is_pending())).await;
    assert!(polled);
    drop(wait);
    assert_eq!(table().get(&key).map(|line| line.people), Some(1));
    drop(first);
    assert!(!table().contains_key(&key));
}

#[tokio::test]
async fn first_come_first_served() {
    let key = TargetKey::new(*b"/lock/order");
    let order = Arc::new(Mutex::new(Vec::new()));
    let first = acquire(&key, FsOp::Edit, &FsCall::new()).await.ok();
    let mut tasks = Vec::new();
    for number in 0..20 {
        let (task_key, order) = (key.clone(), order.clone());
        tasks.push(tokio::spawn(async move {
            let turn = acquire(&task_key, FsOp::Edit, &FsCall::new()).await;
            order.lock().unwrap_or_else(PoisonError::into_inner).push(number);
            drop(turn);
        }));
        while table().get(&key).is_none_or(|line| line.people < number + 2) {
            tokio::task::yield_now().await;
        }
    }
    drop(first);
    for task in tasks {
        assert!(task.await.is_ok());
    }
    assert_eq!(*order.lock().unwrap_or_else(PoisonError::into_inner), (0..20).collect::<Vec<_>>());
}
