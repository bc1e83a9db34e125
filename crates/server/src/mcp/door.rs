//! The door: the protocol's requests, taken to the desk.

use std::sync::Arc;

use longhaul_engine::tools::{Outcome, Toolbox};
use longhaul_model::ToolCall;
use longhaul_redact::Redactor;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError};
use rmcp::transport::stdio;
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{Error, resources, tools};
use crate::desk::Desk;

const INSTRUCTIONS: &str = include_str!("instructions.md");

/// A text without secrets: a client keeps what it is told, and what went wrong
/// may quote what it was given.
fn safe(text: &str) -> String {
    Redactor::default().redact(text).text
}

/// The same for what comes in fields.
fn safe_details(details: Value) -> Value {
    let text = details.to_string();
    match Redactor::default().document().json(&text) {
        std::borrow::Cow::Borrowed(_) => details,
        std::borrow::Cow::Owned(text) => serde_json::from_str(&text).unwrap_or(Value::Null),
    }
}

/// One client's way to the desk.
#[derive(Clone)]
pub(super) struct Door {
    desk: Arc<Desk>,
}

impl Door {
    pub(super) fn to(desk: Arc<Desk>) -> Door {
        Door { desk }
    }

    /// Does what may take its time where it holds no other request up.
    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Desk) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let desk = Arc::clone(&self.desk);
        tokio::task::spawn_blocking(move || work(&desk))
            .await
            .map_err(|error| {
                ErrorData::internal_error(safe(&format!("the work broke off: {error}")), None)
            })
    }

    async fn call(
        &self,
        name: &'static str,
        mut arguments: Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Result<Outcome, ErrorData> {
        if !tools::LOOKING_BACK.contains(&name) {
            return self
                .apart(move |desk| tools::run(desk, name, arguments))
                .await;
        }
        // The engine's own tools know nothing of other sessions.
        let session = match tools::session(&mut arguments) {
            Ok(session) => session,
            Err(reason) => return Ok(Outcome::failed(reason)),
        };
        let toolbox = self
            .apart(move |desk| match name {
                "recall" => {
                    let session = desk.session(session.as_deref())?;
                    desk.looking_back(&session)
                }
                _ => desk.remembering(),
            })
            .await?;
        let toolbox = match toolbox {
            Ok(toolbox) => toolbox,
            Err(reason) => return Ok(Outcome::failed(reason)),
        };
        let call = ToolCall {
            id: name.to_owned(),
            name: name.to_owned(),
            arguments: Value::Object(arguments).to_string(),
        };
        Ok(toolbox.run(&call, cancel).await)
    }
}

impl ServerHandler for Door {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("longhaul", self.desk.version.clone()).with_title("longhaul"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::definitions()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(name) = tools::NAMES.iter().find(|name| **name == request.name) else {
            let reason = format!(
                "there is no tool {:?}; there are: {}",
                request.name,
                tools::NAMES.join(", ")
            );
            return Err(ErrorData::invalid_params(safe(&reason), None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let outcome = self.call(name, arguments, &context.ct).await?;
        // What looks back is without secrets already, each entry for itself.
        let looks_back = tools::LOOKING_BACK.contains(name) && !outcome.is_error;
        let text = match looks_back {
            true => outcome.text,
            false => safe(&outcome.text),
        };
        let text = vec![ContentBlock::text(text)];
        let mut result = match outcome.is_error {
            true => CallToolResult::error(text),
            false => CallToolResult::success(text),
        };
        // Some clients show a model the structure in place of the text, so only
        // what is complete without the text comes with one.
        if !outcome.is_error && tools::STRUCTURED.contains(name) {
            result.structured_content = outcome.details.map(safe_details);
        }
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let page = self
            .apart(move |desk| resources::list(desk, cursor.as_deref()))
            .await?;
        let (found, next) =
            page.map_err(|reason| ErrorData::invalid_params(safe(&reason), None))?;
        let mut result = ListResourcesResult::with_all_items(found);
        result.next_cursor = next;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(
            resources::templates(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let read = self.apart(move |desk| resources::read(desk, &uri)).await?;
        match read {
            Ok(contents) => Ok(contents.into()),
            Err(reason) => Err(ErrorData::resource_not_found(safe(&reason), None)),
        }
    }
}

/// Serves one client over standard input and output, until it closes them or
/// `cancel` is called. Nothing but the protocol is written.
pub async fn serve_stdio(desk: Arc<Desk>, cancel: CancellationToken) -> Result<(), Error> {
    let begun = Door::to(desk).serve_with_ct(stdio(), cancel).await;
    let running = match begun {
        Ok(running) => running,
        // A client may leave before it says anything.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(());
        }
        Err(error) => {
            return Err(Error::Beginning {
                reason: error.to_string(),
            });
        }
    };
    running.waiting().await.map_err(|error| Error::Broken {
        reason: error.to_string(),
    })?;
    Ok(())
}
