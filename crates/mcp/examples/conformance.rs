//! The tools that the protocol's conformance suite calls, on a harness of ours, over HTTP.
//!
//! `cargo run -p dsh-mcp --example conformance` listens at a port of its own choice and says where;
//! `tests/conformance/run.sh` lets the suite loose on it. What the tools are called and what they do is the suite's word.
#![expect(clippy::print_stderr, reason = "a program: it says where it listens")]

use std::sync::Arc;
use std::time::Duration;

use dsh_harness::{
    Content, Execution, HarnessConfig, HarnessPlugin, Media, ObjectSchema, Schema, Session, SessionHeader,
    TOOLS, Tool, ToolDefinition, ToolError,
};
use dsh_mcp::{Elicited, HttpOptions, Refused, elicit, serve_http};
use dsh_plugin::{Context, Failure, PlainError};
use serde_json::{Value as Json, json};
use tokio::net::TcpListener;

/// One red pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
/// One sample of silence.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQEAAACAAA==";

/// A tool of the suite.
#[derive(Clone, Copy)]
enum Fixture {
    SimpleText,
    Image,
    Audio,
    Error,
    Progress,
    Elicitation,
    Defaults,
    Choices,
    Schema,
}

impl Fixture {
    const ALL: [Self; 9] = [
        Self::SimpleText,
        Self::Image,
        Self::Audio,
        Self::Error,
        Self::Progress,
        Self::Elicitation,
        Self::Defaults,
        Self::Choices,
        Self::Schema,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::SimpleText => "test_simple_text",
            Self::Image => "test_image_content",
            Self::Audio => "test_audio_content",
            Self::Error => "test_error_handling",
            Self::Progress => "test_tool_with_progress",
            Self::Elicitation => "test_elicitation",
            Self::Defaults => "test_elicitation_sep1034_defaults",
            Self::Choices => "test_elicitation_sep1330_enums",
            Self::Schema => "json_schema_2020_12_tool",
        }
    }

    fn parameters(self) -> ObjectSchema {
        match self {
            Self::Elicitation => ObjectSchema::new().required("message", Schema::string("What to ask.")),
            Self::Schema => ObjectSchema::new()
                .optional("name", Schema::string(""))
                .optional("address", Schema::any("").with_keyword("$ref", "#/$defs/address"))
                .closed()
                .with_keyword("$schema", "https://json-schema.org/draft/2020-12/schema")
                .with_keyword("$defs", json!({"address": address()})),
            _ => ObjectSchema::new(),
        }
    }
}

impl Tool for Fixture {
    type Args = Json;
    type Value = String;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(self.name(), "A fixture of the conformance suite.", self.parameters())
    }

    async fn execute(&self, args: Arc<Json>, exec: Arc<Execution>) -> Result<String, ToolError> {
        match self {
            Self::Error => {
                Err(PlainError::new("This tool intentionally returns an error for testing").into())
            }
            Self::Progress => {
                for done in [0.0, 50.0, 100.0] {
                    exec.report.say(done, Some(100.0), None);
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                Ok("Three steps were taken.".to_owned())
            }
            Self::Elicitation => asked(args["message"].as_str().unwrap_or_default(), contact()).await,
            Self::Defaults => asked("Please check what is filled in.", defaults()).await,
            Self::Choices => asked("Please choose.", choices()).await,
            Self::SimpleText | Self::Image | Self::Audio | Self::Schema => {
                Ok("This is a simple text response for testing.".to_owned())
            }
        }
    }

    fn render(&self, _: &Json, value: &String) -> Vec<Content> {
        let media = |data: &str, kind: &str| Media { data: data.to_owned(), mime_type: kind.to_owned() };
        vec![match self {
            Self::Image => Content::Image(media(PNG, "image/png")),
            Self::Audio => Content::Audio(media(WAV, "audio/wav")),
            _ => Content::text(value.as_str()),
        }]
    }
}

/// What the person said, in the suite's words.
async fn asked(message: &str, form: Json) -> Result<String, ToolError> {
    let (action, content) = match elicit(message, form).await? {
        Elicited::Accepted(content) => ("accept", content),
        Elicited::Declined => ("decline", Json::Null),
        Elicited::Cancelled => ("cancel", Json::Null),
        Elicited::Unavailable => return Err(PlainError::new("the client cannot be asked").into()),
    };
    Ok(format!("Elicitation completed: action={action}, content={content}"))
}

fn address() -> Json {
    json!({"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}})
}

fn contact() -> Json {
    let text = |description: &str| json!({"type": "string", "description": description});
    let properties = json!({"username": text("User's response"), "email": text("User's email address")});
    json!({"type": "object", "properties": properties, "required": ["username", "email"]})
}

fn defaults() -> Json {
    json!({"type": "object", "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    }})
}

fn choices() -> Json {
    let options = ["option1", "option2", "option3"];
    let titled = |word: &str| {
        let choice = |value: &str, nth: &str| json!({"const": value, "title": format!("{nth} {word}")});
        json!([choice("value1", "First"), choice("value2", "Second"), choice("value3", "Third")])
    };
    json!({"type": "object", "properties": {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled("Option")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
    }})
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let ctx = Context::root();
    ctx.plugin(HarnessPlugin, HarnessConfig::default()).await?;
    let tools = ctx.service(TOOLS)?;
    for fixture in Fixture::ALL {
        tools.register(&ctx, fixture)?;
    }
    let cannot_listen = |error: std::io::Error| PlainError::new(format!("cannot listen: {error}"));
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(cannot_listen)?;
    eprintln!("listening on http://{}/mcp", listener.local_addr().map_err(cannot_listen)?);
    let sessions = |id: &str, _: Option<&str>| -> Result<Arc<Session>, Refused> {
        Ok(Session::new(SessionHeader { id: id.to_owned(), cwd: "/".into() }))
    };
    serve_http(&ctx, sessions, HttpOptions::default(), listener, std::future::pending()).await?;
    Ok(())
}
