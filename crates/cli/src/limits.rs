//! Limits on the size of files (`ulimit -f`): a write beyond one fails and is told,
//! instead of ending the program without a word.

/// Asks to be told of such writes. Whoever listens for the signal is not ended by
/// it, for as long as the program runs; what it starts is, as ever.
pub(crate) fn outlive() {
    use tokio::signal::unix::{SignalKind, signal};
    /// The number that Linux, macOS and the BSDs give `SIGXFSZ`.
    const FILE_TOO_LARGE: i32 = 25;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build();
    // Where that cannot be had, the program ends as every other does.
    let _ = runtime.and_then(|runtime| {
        let _inside = runtime.enter();
        signal(SignalKind::from_raw(FILE_TOO_LARGE)).map(drop)
    });
}
