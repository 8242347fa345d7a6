use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestContext, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient};
use serde_json::{Value, json};

/// A client that counts progress, and answers questions.
#[derive(Clone, Default)]
struct Client {
    progress: Arc<Mutex<Vec<(f64, Option<f64>)>>>,
}

impl ClientHandler for Client {
    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let answer = json!({ "role": "assistant", "content": { "type": "text", "text": "Rome" }, "model": "none" });
        Ok(serde_json::from_value(answer).expect("an answer"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(serde_json::from_value(json!({ "action": "accept", "content": { "name": "Ada" } })).expect("an answer"))
    }

    async fn on_progress(&self, found: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().expect("no panic").push((found.progress, found.total));
    }

    fn get_info(&self) -> ClientConfig {
        let capabilities = json!({
            "sampling": {}, "elicitation": { "form": {} },
            "extensions": { "io.modelcontextprotocol/tasks": {} },
        });
        ClientConfig::new(serde_json::from_value(capabilities).expect("capabilities"), Implementation::new("rust", "1"))
    }
}

type Running = RunningService<RoleClient, Client>;
type Outcome = Result<(), String>;

fn text_of(result: &CallToolResult) -> Result<String, String> {
    let text = result.content.first().and_then(ContentBlock::as_text).map(|part| part.text.clone());
    text.ok_or_else(|| format!("no text: {result:?}"))
}

fn same<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("expected {expected:?}, found {found:?}")) }
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn parameters(name: impl Into<String>, arguments: Value) -> CallToolRequestParams {
    CallToolRequestParams::new(name.into()).with_arguments(serde_json::from_value(arguments).expect("an object"))
}

async fn called(client: &Running, name: &str) -> Result<CallToolResult, String> {
    client.call_tool(parameters(name.to_owned(), json!({}))).await.map_err(said)
}

async fn call(client: &Running) -> Outcome {
    let tools = client.list_all_tools().await.map_err(said)?;
    let name = tools.iter().map(|tool| &tool.name).find(|name| name.ends_with("add")).ok_or("no tool `add`")?;
    let result = client.call_tool(parameters(name.to_string(), json!({ "a": 2, "b": 3 }))).await.map_err(said)?;
    same(text_of(&result)?, "5".to_owned())?;
    same(result.structured_content, Some(json!({ "sum": 5 })))
}

async fn error(client: &Running) -> Outcome {
    let result = called(client, "broken").await?;
    same(result.is_error, Some(true))?;
    same(text_of(&result)?, "out of paper".to_owned())?;
    match client.read_resource(ReadResourceRequestParams::new("test://none")).await {
        Ok(found) => Err(format!("read {found:?}")),
        Err(rmcp::ServiceError::McpError(error)) => same([-32002, -32602].contains(&error.code.0), true),
        Err(error) => Err(error.to_string()),
    }
}

async fn progress(client: &Running) -> Outcome {
    client.service().progress.lock().expect("no panic").clear();
    same(text_of(&called(client, "count").await?)?, "counted".to_owned())?;
    let found = client.service().progress.lock().expect("no panic").clone();
    same(found, [1.0, 2.0, 3.0].map(|step| (step, Some(3.0))).to_vec())
}

async fn cancellation(client: &Running) -> Outcome {
    let request = ClientRequest::CallToolRequest(Request::new(parameters("wait", json!({}))));
    let handle = client.send_cancellable_request(request, PeerRequestOptions::no_options()).await.map_err(said)?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    handle.cancel(Some("no longer needed".to_owned())).await.map_err(said)?;
    for _ in 0..20 {
        if text_of(&called(client, "cancelled").await?)? == "1" {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err("the server was not told".to_owned())
}

async fn sampling(client: &Running) -> Outcome {
    same(text_of(&called(client, "sample").await?)?, "Rome".to_owned())
}

async fn elicitation(client: &Running) -> Outcome {
    same(text_of(&called(client, "ask").await?)?, "accept Ada".to_owned())
}

async fn tasks(client: &Running) -> Outcome {
    let response = client.call_tool_once(parameters("later", json!({}))).await.map_err(said)?;
    let CallToolResponse::Task(created) = response else {
        return Err(format!("the call was no task: {response:?}"));
    };
    let id = created.task.task_id;
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let found = client.peer().get_task(GetTaskParams::new(id.clone())).await.map_err(said)?;
        if !found.task.status().is_terminal() {
            continue;
        }
        let TaskPayload::Completed { result } = found.task.payload else {
            return Err(format!("found {:?}", found.task));
        };
        let result: CallToolResult = serde_json::from_value(Value::Object(result)).map_err(said)?;
        return same(text_of(&result)?, "done later".to_owned());
    }
}

async fn read(client: &Running, uri: &str) -> Result<Value, String> {
    let found = client.read_resource(ReadResourceRequestParams::new(uri)).await.map_err(said)?;
    Ok(serde_json::to_value(&found).map_err(said)?["contents"][0].clone())
}

async fn resources(client: &Running) -> Outcome {
    let found = client.list_all_resources().await.map_err(said)?;
    let uri = found.iter().find(|one| one.name == "one").map(|one| one.uri.clone());
    same(uri.as_deref(), Some("test://one"))?;
    same(&read(client, "test://one").await?["text"], &json!("first"))?;
    let templates = client.list_all_resource_templates().await.map_err(said)?;
    same(templates[0].uri_template.as_str(), "test://items/{id}")?;
    same(&read(client, "test://items/7").await?["text"], &json!("item 7"))
}

async fn prompts(client: &Running) -> Outcome {
    let found = json!(client.list_all_prompts().await.map_err(said)?);
    same(&found[0]["arguments"][0]["name"], &json!("who"))?;
    let mut request = GetPromptRequestParams::new("greet");
    request.arguments = serde_json::from_value(json!({ "who": "Ada" })).map_err(said)?;
    let result = json!(client.get_prompt(request).await.map_err(said)?);
    same(&result["messages"][0]["content"]["text"], &json!("Hello, Ada"))
}

async fn apps(client: &Running) -> Outcome {
    let tools = json!(client.list_all_tools().await.map_err(said)?);
    let view = tools.as_array().and_then(|tools| tools.iter().find(|tool| tool["name"] == "view"));
    let uri = view.ok_or("no tool `view`")?["_meta"]["ui"]["resourceUri"].as_str().ok_or("no page")?.to_owned();
    let page = read(client, &uri).await?;
    same(&page["mimeType"], &json!("text/html;profile=mcp-app"))?;
    same(&page["text"], &json!("<p>page</p>"))?;
    same(&page["_meta"]["ui"], &json!({ "prefersBorder": true }))
}

fn say(feature: &str, outcome: Outcome) {
    let why = outcome.as_ref().err();
    let outcome = if why.is_some() { "fails" } else { "passes" };
    println!("{}", json!({ "feature": feature, "outcome": outcome, "why": why }));
}

/// Uses every feature of a server, and prints a line of JSON for each.
pub async fn connect(version: &str, line: &[String]) {
    let mut command = tokio::process::Command::new(&line[0]);
    command.args(&line[1..]);
    let transport = TokioChildProcess::new(command).expect("the server starts");
    let lifecycle = match version {
        "2026-07-28" => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
        _ => ClientLifecycleMode::Initialize,
    };
    let client = match Client::default().serve_with_lifecycle(transport, lifecycle).await {
        Ok(client) => client,
        Err(error) => return say("connect", Err(error.to_string())),
    };
    say("connect", Ok(()));
    macro_rules! features {
        ($($feature:ident),*) => {$(
            let outcome = tokio::time::timeout(Duration::from_secs(10), $feature(&client)).await;
            say(stringify!($feature), outcome.unwrap_or_else(|_| Err("no answer within 10 seconds".to_owned())));
        )*};
    }
    features!(call, error, progress, cancellation, sampling, elicitation, tasks, resources, prompts, apps);
    let _ = client.cancel().await;
}
