//! The seam between the turn loop and the tools.

use futures::future::BoxFuture;
use longhaul_assembly::Tool;
use longhaul_model::ToolCall;
use tokio_util::sync::CancellationToken;

/// The tools an agent may call during a turn. The turn loop knows nothing else
/// about them.
pub trait Toolbox: Send + Sync {
    /// The tools, as a model is told of them.
    fn definitions(&self) -> Vec<Tool>;

    /// Runs one call. Never fails as such: what went wrong is the result's text,
    /// with [`Outcome::is_error`].
    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Outcome>;
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What the model reads.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
    /// What programs may want to know; stored beside the text, never sent.
    pub details: Option<serde_json::Value>,
}

impl Outcome {
    /// A call that did what it was asked for.
    pub fn done(text: impl Into<String>) -> Outcome {
        Outcome {
            text: text.into(),
            is_error: false,
            details: None,
        }
    }

    /// A call that did not, and why.
    pub fn failed(text: impl Into<String>) -> Outcome {
        Outcome {
            text: text.into(),
            is_error: true,
            details: None,
        }
    }

    /// The same, with something for programs.
    #[must_use]
    pub fn with_details(self, details: serde_json::Value) -> Outcome {
        Outcome {
            details: Some(details),
            ..self
        }
    }
}

/// A toolbox with nothing in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTools;

impl Toolbox for NoTools {
    fn definitions(&self) -> Vec<Tool> {
        Vec::new()
    }

    fn run<'a>(&'a self, call: &'a ToolCall, _: &'a CancellationToken) -> BoxFuture<'a, Outcome> {
        let text = format!(
            "There is no tool named \"{}\": this session has no tools. Answer without one.",
            call.name
        );
        Box::pin(std::future::ready(Outcome::failed(text)))
    }
}

/// Runs something that reads, away from the turn; a cancelled turn does not wait
/// for it.
pub(super) async fn apart<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err("The call was cancelled by the user.".into()),
        done = finish(work) => done,
    }
}

/// Runs something that changes files, to its end.
pub(super) async fn finish<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(format!("The tool failed inside: {error}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::executor::block_on;

    #[test]
    fn an_empty_toolbox_answers_a_call_instead_of_failing() {
        let call = ToolCall {
            id: "1".into(),
            name: "read".into(),
            arguments: "{".into(),
        };
        let outcome = block_on(NoTools.run(&call, &CancellationToken::new()));
        assert!(outcome.is_error);
        assert!(outcome.text.contains("\"read\""), "{}", outcome.text);
        assert!(NoTools.definitions().is_empty());
    }
}
