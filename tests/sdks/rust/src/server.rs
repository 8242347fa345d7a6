use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskManager, TaskOptions};
use rmcp::transport::stdio;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};

use crate::{part, scenario};

#[derive(Clone)]
struct Server {
    cancelled: Arc<AtomicUsize>,
    tasks: TaskManager,
}

fn text(said: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(said.into())])
}

fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn asked<T: serde::de::DeserializeOwned>(name: &str) -> T {
    part(name)
}

impl Server {
    /// Asks the client, in the way of its version, and returns the answer, or what to return instead.
    async fn ask(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Result<Value, CallToolResponse>, ErrorData> {
        let is_sampling = request.name == "sample";
        let is_modern = context.protocol_version() == Some(ProtocolVersion::V_2026_07_28);
        if is_modern {
            if let Some(answer) = request.input_responses.as_ref().and_then(|answers| answers.get("answer")) {
                return Ok(Ok(serde_json::to_value(answer).map_err(internal)?));
            }
            let mut requests = InputRequests::new();
            let input = if is_sampling {
                InputRequest::CreateMessage(CreateMessageRequest::new(asked("sampling")))
            } else {
                InputRequest::Elicitation(ElicitRequest::new(asked("elicitation")))
            };
            requests.insert("answer".to_string(), input);
            return Ok(Err(InputRequiredResult::new(Some(requests), None).into()));
        }
        let answer = if is_sampling {
            let answer = context.peer.create_message(asked("sampling")).await.map_err(internal)?;
            serde_json::to_value(answer)
        } else {
            let answer = context.peer.create_elicitation(asked("elicitation")).await.map_err(internal)?;
            serde_json::to_value(answer)
        };
        Ok(Ok(answer.map_err(internal)?))
    }
}

impl ServerHandler for Server {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let result = match request.name.as_ref() {
            "math.add" => {
                let arguments = request.arguments.unwrap_or_default();
                let number = |name: &str| arguments.get(name).and_then(Value::as_i64).unwrap_or(0);
                let sum = number("a") + number("b");
                let mut result = text(sum.to_string());
                result.structured_content = Some(json!({ "sum": sum }));
                result
            }
            "broken" => CallToolResult::error(vec![ContentBlock::text("out of paper")]),
            "count" => {
                if let Some(token) = context.meta.get_progress_token() {
                    for step in 1..=3 {
                        let progress = ProgressNotificationParam::new(token.clone(), f64::from(step)).with_total(3.0);
                        context.peer.notify_progress(progress).await.map_err(internal)?;
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
                text("counted")
            }
            "wait" => {
                context.ct.cancelled().await;
                self.cancelled.fetch_add(1, Ordering::SeqCst);
                text("cancelled")
            }
            "cancelled" => text(self.cancelled.load(Ordering::SeqCst).to_string()),
            "sample" | "ask" => match self.ask(&request, &context).await? {
                Err(response) => return Ok(response),
                Ok(answer) if request.name == "sample" => {
                    let content = &answer["content"];
                    text(content["text"].as_str().or(content[0]["text"].as_str()).unwrap_or("nothing"))
                }
                Ok(answer) => text(format!(
                    "{} {}",
                    answer["action"].as_str().unwrap_or_default(),
                    answer["content"]["name"].as_str().unwrap_or_default()
                )),
            },
            "later" if context.client_capabilities().is_some_and(|found| found.supports_tasks()) => {
                let options = TaskOptions::new().with_poll_interval_ms(100);
                let task = self.tasks.spawn(options, move |_| {
                    Box::pin(async move {
                        tokio::time::sleep(Duration::from_millis(200)).await;
                        Ok(text("done later"))
                    })
                });
                return Ok(CallToolResponse::Task(CreateTaskResult::new(task)));
            }
            "later" => text("done now"),
            _ => text("shown"),
        };
        Ok(result.into())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(part("tools")))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(part("resources")))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(part("resourceTemplates")))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let found = scenario()["contents"][&request.uri].clone();
        if found.is_null() {
            return Err(ErrorData::resource_not_found("Resource not found", None));
        }
        let contents: ResourceContents = serde_json::from_value(found).map_err(internal)?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(part("prompts")))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = json!(request.arguments);
        let said = format!("Hello, {}", arguments["who"].as_str().unwrap_or_default());
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, said)]).into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&request.task_id)?))
    }

    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().enable_tasks().build(),
        )
    }
}

pub async fn serve() {
    let server = Server { cancelled: Arc::default(), tasks: TaskManager::new() };
    let running = server.serve(stdio()).await.expect("a client connects");
    running.waiting().await.expect("the client closes the connection");
}
