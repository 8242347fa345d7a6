//! `toolwire run`: what a client receives, how it ends, and what stays of the relay.

#![cfg(unix)]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    collections::BTreeMap,
    fs,
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
};

use serde_json::{json, Value};

use crate::{
    command::{program, ran, Folder},
    http::Running,
    network::{reply, Network},
    relay::{api, ask, chat, wait_until, CHAT},
};

/// A client that writes its arguments and variables, and then waits.
const CLIENT: &str = "#!/bin/sh
printf '%s\\n' \"$@\" >arguments
env >new; mv new variables
trap 'exit 5' TERM
while [ ! -e go ]; do sleep 0.05; done
exit 7
";

struct Client {
    child: Child,
    folder: Folder,
    port: u16,
    variables: BTreeMap<String, String>,
    arguments: Vec<String>,
}

impl Client {
    fn start(name: &str, options: &[&str], set: impl Fn(&mut Command)) -> Client {
        let folder = Folder::new();
        folder.write(&format!("bin/{name}"), CLIENT);
        let path = folder.0.join("bin").join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
        let mut command = program();
        command.arg("run").args(options).args(["--", name, "exec", "a b"]).current_dir(&folder.0);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", folder.0.join("bin").display()));
        // Those of the developer would change what the client receives.
        for name in ["ENABLE_TOOL_SEARCH", "OPENCODE_CONFIG_CONTENT", "ANTHROPIC_CUSTOM_HEADERS"] {
            command.env_remove(name);
        }
        set(&mut command);
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program");
        wait_until(|| folder.0.join("variables").exists());
        let read = |name: &str| fs::read_to_string(folder.0.join(name)).expect("a file");
        let variables: BTreeMap<String, String> = read("variables")
            .lines()
            .filter_map(|line| line.split_once('=').map(|(name, value)| (name.into(), value.into())))
            .collect();
        let port = variables["TOOLWIRE_URL"].rsplit(':').next().expect("a port").parse().expect("a port");
        let arguments = read("arguments").lines().map(String::from).collect();
        Client { child, folder, port, variables, arguments }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn signal(&self, name: &str) {
        let sent = crate::kill().args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
    }

    /// Nothing listens afterwards.
    fn end(mut self) -> Option<i32> {
        let code = crate::exit_code(&mut self.child);
        assert!(TcpStream::connect(("127.0.0.1", self.port)).is_err(), "the relay goes on without its client");
        code
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // After `kill`, the client would go on.
        self.folder.write("go", "");
        let _ = self.child.wait();
    }
}

fn kimi(command: &mut Command) {
    command.env("MOONSHOT_API_KEY", " secret ").env("ANTHROPIC_API_KEY", "of another API");
    command.env("ANTHROPIC_CUSTOM_HEADERS", "X-Key: of a gateway").env("CLAUDE_CODE_USE_BEDROCK", "1");
}

#[test]
fn claude_code_uses_kimi_with_one_line() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let requests = seen.clone();
    let network = Network::start(move |host, request, connection| {
        let target = request.start.split(' ').nth(1).unwrap_or_default();
        let key = request.header("authorization").unwrap_or_default();
        requests.lock().expect("no panic").push((format!("{host}{target}"), key.to_string()));
        reply(connection.get_mut(), "200 OK\r\nContent-Type: application/json", "{}");
        true
    });
    let client = Client::start("claude", &["--on", "kimi", "--model", "kimi-k3"], |command| {
        kimi(command);
        network.set(command);
    });
    for (name, value) in [
        ("ANTHROPIC_BASE_URL", client.url().as_str()),
        ("ANTHROPIC_AUTH_TOKEN", "secret"),
        ("ANTHROPIC_MODEL", "kimi-k3"),
        ("ANTHROPIC_DEFAULT_HAIKU_MODEL", "kimi-k3"),
        ("ENABLE_TOOL_SEARCH", "true"),
    ] {
        assert_eq!(client.variables.get(name).map(String::as_str), Some(value), "{name}");
    }
    // What belongs to another API does not reach this one.
    for name in ["ANTHROPIC_API_KEY", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_USE_BEDROCK"] {
        assert_eq!(client.variables.get(name), None, "{name}");
    }
    // A client that reads the variable itself receives the key without spaces, too.
    assert_eq!(client.variables["MOONSHOT_API_KEY"], "secret");
    let [option, settings, rest @ ..] = &client.arguments[..] else { panic!("{:?}", client.arguments) };
    assert_eq!((option.as_str(), rest), ("--settings", &["exec".to_string(), "a b".to_string()][..]));
    let settings: Value = serde_json::from_str(settings).expect("JSON");
    assert_eq!(settings["env"]["ANTHROPIC_BASE_URL"], client.url());
    assert_eq!(settings["env"]["CLAUDE_CODE_SUBAGENT_MODEL"], "kimi-k3");
    assert!(!settings.to_string().contains("secret"), "{settings}");
    let body = json!({"model": "kimi-k3", "max_tokens": 1, "messages": []}).to_string();
    let head = "POST /v1/messages HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer secret";
    assert_eq!(ask(client.port, head, body.as_bytes()).status(), 200);
    let expected = ("api.moonshot.ai/anthropic/v1/messages".to_string(), "Bearer secret".to_string());
    assert_eq!(*seen.lock().expect("no panic"), [expected]);
    client.folder.write("go", "");
    assert_eq!(client.end(), Some(7));
}

#[test]
fn codex_and_opencode_receive_the_address_the_name_of_the_key_and_the_model() {
    let key = |command: &mut Command| {
        command.env("GROQ_API_KEY", "secret").env("DEEPSEEK_API_KEY", "secret");
    };
    let client = Client::start("codex", &["--on", "groq", "--model", "openai/gpt-oss-120b"], key);
    let pairs: Vec<&[String]> = client.arguments.chunks(2).collect();
    for option in [
        "model_provider=\"toolwire\"".to_string(),
        format!("model_providers.toolwire.base_url=\"{}\"", client.url()),
        "model_providers.toolwire.env_key=\"GROQ_API_KEY\"".into(),
        "model=\"openai/gpt-oss-120b\"".into(),
    ] {
        assert!(pairs.contains(&&["-c".to_string(), option.clone()][..]), "{option} in {pairs:?}");
    }
    assert_eq!(client.arguments[client.arguments.len() - 2..], ["exec", "a b"]);
    assert_eq!(client.variables["GROQ_API_KEY"], "secret");
    let client = Client::start("opencode", &["--on", "deepseek", "--model", "deepseek-chat"], key);
    let config: Value = serde_json::from_str(&client.variables["OPENCODE_CONFIG_CONTENT"]).expect("JSON");
    let provider = &config["provider"]["toolwire"];
    assert_eq!(provider["options"], json!({"baseURL": client.url(), "apiKey": "{env:DEEPSEEK_API_KEY}"}));
    assert_eq!(
        (&provider["models"], &config["model"]),
        (&json!({"deepseek-chat": {}}), &json!("toolwire/deepseek-chat"))
    );
}

/// Otherwise, the server would receive the key or the login that the client has for another API.
#[test]
fn a_client_of_an_api_without_a_key_sends_none() {
    let set = |command: &mut Command| {
        command.env("ANTHROPIC_API_KEY", "of another API");
    };
    let client = Client::start("claude", &["--upstream", "http://127.0.0.1:9"], set);
    assert_eq!(client.variables.get("ANTHROPIC_API_KEY"), None);
    assert_eq!(client.variables["ANTHROPIC_AUTH_TOKEN"], "none");
    let client = Client::start("opencode", &["--on", "ollama", "--model", "qwen3"], set);
    let config: Value = serde_json::from_str(&client.variables["OPENCODE_CONFIG_CONTENT"]).expect("JSON");
    let options = &config["provider"]["toolwire"]["options"];
    assert_eq!(*options, json!({"baseURL": client.url(), "apiKey": "{env:TOOLWIRE_NO_KEY}"}));
    assert_eq!(client.variables["TOOLWIRE_NO_KEY"], "none");
}

#[test]
fn anthropic_receives_its_key_in_its_own_header_and_keeps_the_small_model() {
    let client = Client::start("claude", &["--on", "anthropic", "--model", "m", "--key-env", "OWN"], |command| {
        kimi(command);
        command.env("OWN", "own");
    });
    assert_eq!(client.variables["ANTHROPIC_API_KEY"], "own");
    for name in ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_DEFAULT_HAIKU_MODEL"] {
        assert_eq!(client.variables.get(name), None, "{name}");
    }
    // With its own login, nothing is removed but the way to other clouds.
    for on in ["anthropic", "anthropic-strict"] {
        let client = Client::start("claude", &["--on", on, "--token-env", "TOKEN"], |command| {
            kimi(command);
            command.env("TOKEN", "{url}");
        });
        assert_eq!(client.variables["ANTHROPIC_API_KEY"], "of another API", "{on}");
        assert_eq!(client.variables.get("CLAUDE_CODE_USE_BEDROCK"), None, "{on}");
        // A line is added. A value stays as it is.
        let headers = "\nANTHROPIC_CUSTOM_HEADERS=X-Key: of a gateway\nX-Toolwire-Token: {url}\n";
        let variables = fs::read_to_string(client.folder.0.join("variables")).expect("a file");
        assert!(format!("\n{variables}").contains(headers), "{on}: {variables}");
    }
    // The key reaches another API only as the token.
    let client = Client::start("claude", &["--on", "kimi", "--model", "m", "--key-env", "ANTHROPIC_API_KEY"], kimi);
    assert_eq!(client.variables.get("ANTHROPIC_API_KEY"), None);
    assert_eq!(client.variables["ANTHROPIC_AUTH_TOKEN"], "of another API");
}

#[test]
fn clients_send_the_token_of_the_relay() {
    let port = api(|request, stream| crate::relay::reply(stream, "", request.start.as_bytes()));
    let upstream = format!("http://127.0.0.1:{port}");
    let options = ["--upstream", &upstream, "--model", "m", "--token-env", "TOKEN"];
    let set = |command: &mut Command| {
        command.env("TOKEN", "t").env("OPENCODE_CONFIG_CONTENT", r#"{"permission":{"bash":"deny"},"model":"x"}"#);
    };
    let client = Client::start("claude", &options, set);
    assert_eq!(client.variables["ANTHROPIC_CUSTOM_HEADERS"], "X-Toolwire-Token: t");
    assert!(!client.arguments.iter().any(|argument| argument.contains("Token")));
    assert_eq!(ask(client.port, "GET /v1/models HTTP/1.1", b"").status(), 401);
    let head = "GET /v1/models HTTP/1.1\r\nX-Toolwire-Token: t";
    assert_eq!(ask(client.port, head, b"").status(), 200);
    let client = Client::start("codex", &options, set);
    let option = "model_providers.toolwire.env_http_headers={\"X-Toolwire-Token\"=\"TOKEN\"}";
    assert!(client.arguments.iter().any(|argument| argument == option), "{:?}", client.arguments);
    let client = Client::start("opencode", &options, set);
    let config: Value = serde_json::from_str(&client.variables["OPENCODE_CONFIG_CONTENT"]).expect("JSON");
    let headers = &config["provider"]["toolwire"]["options"]["headers"];
    assert_eq!(*headers, json!({"X-Toolwire-Token": "{env:TOKEN}"}));
    // What the user has set stays.
    assert_eq!((&config["permission"]["bash"], &config["model"]), (&json!("deny"), &json!("toolwire/m")));
}

#[test]
fn arguments_of_the_user_stay_as_they_are() {
    let words = ["--on", "kimi", "--model", "m", "--", "claude", "{secret} {key}"];
    let client = Client::start("claude", &words, kimi);
    assert_eq!(client.arguments[2..], ["{secret} {key}", "--", "claude", "exec", "a b"]);
    let words = ["--on", "kimi", "--model", "m", "--", "claude", "--settings={}"];
    let client = Client::start("claude", &words, kimi);
    assert_eq!(client.arguments, ["--settings={}", "--", "claude", "exec", "a b"]);
}

#[test]
fn any_client_is_run_with_the_variable_of_its_base_url() {
    let port = api(|request, stream| crate::relay::reply(stream, "", request.start.as_bytes()));
    let upstream = format!("http://127.0.0.1:{port}/v1");
    let options = ["--upstream", &upstream, "--variable", "OPENAI_BASE_URL", "--variable", "OTHER_URL"];
    let set = |command: &mut Command| {
        command.env("http_proxy", "http://127.0.0.1:9").env("NO_PROXY", "a.example");
    };
    let client = Client::start("agent", &options, set);
    assert_eq!(client.variables["OPENAI_BASE_URL"], client.url());
    assert_eq!(client.variables["OTHER_URL"], client.url());
    // Its requests to the relay do not go to a proxy.
    assert_eq!(client.variables["NO_PROXY"], "a.example,127.0.0.1");
    assert_eq!(ask(client.port, "GET /models HTTP/1.1", b"").text(), "GET /v1/models HTTP/1.1");
}

#[test]
fn signals_reach_the_client_which_decides_about_the_exit_code() {
    let options = ["--upstream", "http://127.0.0.1:9", "--variable", "URL"];
    let client = Client::start("agent", &options, |_| ());
    client.signal("TERM");
    assert_eq!(client.end(), Some(5));
    // Without a handler, the signal ends the client.
    for (name, code) in [("HUP", 129), ("INT", 130), ("QUIT", 131)] {
        if name == "HUP" && crate::ignores_hangup() {
            continue;
        }
        let folder = Folder::new();
        let mut command = program();
        command.arg("run").args(options).args(["--", "sh", "-c", "touch started; exec sleep 60"]);
        let mut child = command.current_dir(&folder.0).stdin(Stdio::null()).spawn().expect("the program");
        // A signal before the client runs ends the command.
        wait_until(|| folder.0.join("started").exists());
        let sent = crate::kill().args([&format!("-{name}"), &child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
        assert_eq!(crate::exit_code(&mut child), Some(code), "{name}");
    }
}

#[test]
fn a_client_that_cannot_run_is_an_error() {
    let own = ["--upstream", "http://127.0.0.1:9", "--variable", "URL"];
    for (options, client, words, exit) in [
        (
            &["--on", "kimi"][..],
            "claude",
            "toolwire: run: without `--model`, `claude` asks this API for the models of another one\n\
             toolwire: run: expected the key in the variable `MOONSHOT_API_KEY`, found it unset\n",
            2,
        ),
        (
            &["--on", "ollama"][..],
            "opencode",
            "toolwire: run: expected `--model`, without which `opencode` does not use the relay, found none\n",
            2,
        ),
        (
            &own[..],
            "no-such-client",
            "toolwire: run: no-such-client: expected a command, found none with this name\n",
            127,
        ),
        (&own[..], "./a-folder", "toolwire: run: ./a-folder: EACCES\n", 126),
        (
            &own[..],
            "./odd-script",
            "toolwire: run: ./odd-script: expected a script whose interpreter exists, found another\n",
            126,
        ),
        (
            &["--on", "kimi", "--model", "{secret}"],
            "claude",
            "toolwire: run: --model: expected the name of a model, found `{secret}`\n",
            2,
        ),
        (
            &["--on", "kimi", "--model", "m", "--token-env", "{secret}"],
            "codex",
            "toolwire: run: --token-env: expected the name of a variable, found `{secret}`\n",
            2,
        ),
        (
            &own[..],
            "odd-script",
            "toolwire: run: odd-script: expected a script whose interpreter exists, found another\n",
            126,
        ),
        (
            // These are the models of the API.
            &["--on", "openai"],
            "codex",
            "toolwire: run: expected the key in the variable `OPENAI_API_KEY`, found it unset\n",
            2,
        ),
        (
            &["--upstream", "http://127.0.0.1:9", "--variable", "A=B"],
            "agent",
            "toolwire: run: --variable: expected the name of a variable, found `A=B`\n",
            2,
        ),
    ] {
        let folder = Folder::new();
        folder.write("a-folder/file", "");
        folder.write("odd-script", "#!/no/such/interpreter\n");
        fs::set_permissions(folder.0.join("odd-script"), fs::Permissions::from_mode(0o755)).expect("permissions");
        let mut command = program();
        command.current_dir(&folder.0);
        command.args(["run"]).args(options).args(["--", client]);
        command.env_remove("MOONSHOT_API_KEY").env_remove("OPENAI_API_KEY");
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{path}:{}", folder.0.display()));
        let (_, stderr, code) = ran(&mut command, "");
        assert_eq!((stderr.as_str(), code), (words, Some(exit)));
    }
}

/// The program of a user, which has its key itself.
#[test]
fn a_key_that_nothing_uses_is_not_needed() {
    let client = Client::start("agent", &["--on", "mistral", "--variable", "URL"], |command| {
        command.env_remove("MISTRAL_API_KEY");
    });
    assert_eq!(client.variables["URL"], client.url());
}

#[test]
fn messages_of_the_relay_follow_after_the_end_of_the_client() {
    let run = |client: &str| {
        let mut command = program();
        command.args(["run", "--upstream", "http://127.0.0.1:9", "--variable", "URL", "--", "sh", "-c", client]);
        ran(&mut command, "").1
    };
    assert_eq!(run("true"), "toolwire: run: the client has sent no request to the relay\n");
    let request = "exec 3<>/dev/tcp/${URL#http://}";
    let request = format!("bash -c '{}; printf \"GET / HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: close\\r\\n\\r\\n\" >&3; cat <&3 >&2; echo end >&2'", request.replace("${URL#http://}", "${U%:*}/${U##*:}").replace("exec", "U=${URL#http://}; exec"));
    let stderr = run(&request);
    let (_, after) = stderr.split_once("end\n").expect("the end");
    assert!(after.starts_with("toolwire: /: expected a reply from http://127.0.0.1:9, found none"), "{stderr}");
}

fn named(name: &'static str) -> u16 {
    api(move |request, stream| {
        let body = json!({"name": name, "target": request.start, "tools": request.json()["tools"], "choices": []});
        crate::relay::reply(stream, "Content-Type: application/json\r\n", body.to_string().as_bytes());
    })
}

#[test]
fn the_configuration_is_read_again_when_it_changes() {
    let (one, two) = (named("one"), named("two"));
    let folder = Folder::new();
    let config = |port: u16, dialect: &str| {
        format!("[[upstream]]\npath = \"/kimi\"\nurl = \"http://127.0.0.1:{port}\"\ndialect = \"{dialect}\"\n")
    };
    folder.write("relay.toml", &config(one, "vllm"));
    let mut command = program();
    command.args(["relay", "--listen", "127.0.0.1:0", "--config", "relay.toml"]).current_dir(&folder.0);
    let relay = Running::start(command);
    let head = CHAT.replace("/v1/", "/kimi/v1/");
    let answer = |port: u16| ask(port, &head, &chat("a.b", json!({}))).json();
    assert_eq!(answer(relay.port)["name"], "one");
    // An error leaves the settings as they are.
    folder.write("relay.toml", "[[upstream]]\nurl = 1\n");
    wait_until(|| relay.log().contains("relay.toml:2: expected"));
    wait_until(|| relay.log().contains("the settings before the change still apply"));
    assert_eq!(answer(relay.port)["name"], "one");
    folder.write("relay.toml", &config(two, "openai-chat"));
    wait_until(|| relay.log().contains("relay.toml was read again"));
    let found = answer(relay.port);
    assert_eq!((&found["name"], &found["tools"][0]["function"]["name"]), (&json!("two"), &json!("a_b")));
    // What was counted before the change stays.
    let metrics = ask(relay.port, "GET /toolwire/metrics HTTP/1.1", b"").text();
    assert!(metrics.contains("toolwire_upstream_replies_total{status=\"200\"} 3"), "{metrics}");
    // A client uses one path of the file.
    let path = folder.0.join("relay.toml");
    let path = path.to_str().expect("a path");
    let client = Client::start("agent", &["--config", path, "--on", "kimi", "--variable", "URL"], |_| ());
    assert_eq!(client.variables["URL"], format!("{}/kimi", client.url()));
    assert_eq!(answer(client.port)["name"], "two");
    folder.write("relay.toml", &config(two, "llama-cpp"));
    wait_until(|| answer(client.port)["tools"][0]["function"]["name"] == "a.b");
    // Another address, also on the same host, would receive the key of the client.
    folder.write("relay.toml", &config(one, "openai-chat"));
    wait_until(|| relay.log().matches("was read again").count() == 3);
    assert_eq!((&answer(client.port)["name"], &answer(relay.port)["name"]), (&json!("two"), &json!("one")));
    let (_, stderr, code) =
        ran(program().args(["run", "--config", path, "--on", "other", "--variable", "URL", "--", "true"]), "");
    let expected = "toolwire: run: --on: expected the path of an upstream (`/kimi`), found `/other`\n";
    assert_eq!((stderr.as_str(), code), (expected, Some(2)));
}
