use dsh_harness::{ObjectSchema, Schema};
use serde_json::{Value as Json, json};

fn message(schema: &ObjectSchema, arguments: &Json) -> String {
    schema.validate(arguments).map_or_else(|error| error.to_string(), |()| "ok".to_owned())
}

/// The message for one property called `p`.
fn property(schema: Schema, value: impl Into<Json>) -> String {
    let message = message(&ObjectSchema::new().optional("p", schema), &json!({ "p": value.into() }));
    message.strip_prefix("invalid arguments: ").map_or(message.clone(), str::to_owned)
}

#[test]
fn prints_an_open_root_with_required_last() {
    let schema = ObjectSchema::new()
        .required("file_path", Schema::string("Path to edit."))
        .required("old_string", Schema::string("Text."))
        .optional("replace_all", Schema::boolean("All."))
        .optional("mode", Schema::enum_of("Mode.", ["workspace-write", "danger-full-access"]));
    assert_eq!(
        schema.to_json().to_string(),
        concat!(
            r#"{"type":"object","properties":{"#,
            r#""file_path":{"type":"string","description":"Path to edit."},"#,
            r#""old_string":{"type":"string","description":"Text."},"#,
            r#""replace_all":{"type":"boolean","description":"All."},"#,
            r#""mode":{"type":"string","description":"Mode.","enum":["workspace-write","danger-full-access"]}},"#,
            r#""required":["file_path","old_string"]}"#
        )
    );
}

#[test]
fn leaves_required_out_when_nothing_is() {
    let schema = ObjectSchema::new().optional("n", Schema::number("N."));
    assert_eq!(
        schema.to_json().to_string(),
        r#"{"type":"object","properties":{"n":{"type":"number","description":"N."}}}"#
    );
    assert_eq!(ObjectSchema::new().to_json().to_string(), r#"{"type":"object","properties":{}}"#);
}

#[test]
fn prints_the_keys_of_every_kind_in_their_order() {
    let print = |schema: Schema| schema.to_json().to_string();
    let inner = ObjectSchema::new().required("a", Schema::integer("")).closed();
    assert_eq!(
        print(Schema::object("O.", inner)),
        concat!(
            r#"{"type":"object","description":"O.","additionalProperties":false,"#,
            r#""properties":{"a":{"type":"integer"}},"required":["a"]}"#
        )
    );
    assert_eq!(
        print(Schema::array("L.", Schema::string("")).with_title("List").with_default(json!([]))),
        r#"{"type":"array","description":"L.","title":"List","default":[],"items":{"type":"string"}}"#
    );
    assert_eq!(print(Schema::constant("C.", "x")), r#"{"type":"string","description":"C.","const":"x"}"#);
    assert_eq!(
        print(Schema::one_of("U.", Schema::null(""), Schema::string(""), vec![])),
        r#"{"oneOf":[{"type":"null"},{"type":"string"}],"description":"U."}"#
    );
    assert_eq!(print(Schema::any("Whatever.")), r#"{"description":"Whatever."}"#);
}

#[test]
fn redeclaring_a_property_keeps_its_place() {
    let schema = ObjectSchema::new()
        .required("a", Schema::string(""))
        .required("b", Schema::string(""))
        .optional("a", Schema::number(""));
    assert_eq!(schema.names().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(message(&schema, &json!({"a": 1, "b": ""})), "ok");
}

#[test]
fn added_keywords_are_told_last_and_never_checked() {
    let address = Schema::any("").with_keyword("$ref", "#/$defs/address");
    let schema = ObjectSchema::new()
        .required("address", address)
        .closed()
        .with_keyword("$schema", "https://json-schema.org/draft/2020-12/schema")
        .with_keyword("type", "string")
        .with_keyword("$defs", json!({"address": {"type": "object"}}));
    assert_eq!(
        schema.to_json().to_string(),
        r##"{"type":"object","additionalProperties":false,"properties":{"address":{"$ref":"#/$defs/address"}},"##
            .to_owned()
            + r#""required":["address"],"$schema":"https://json-schema.org/draft/2020-12/schema","#
            + r#""$defs":{"address":{"type":"object"}}}"#
    );
    assert_eq!(schema.validate(&json!({"address": "no object"})), Ok(()));
}

#[test]
fn the_root_is_called_arguments() {
    for value in [json!(null), json!("a"), json!([]), json!(5), json!(true)] {
        assert_eq!(
            message(&ObjectSchema::new(), &value),
            "invalid arguments: \"arguments\" must be an object"
        );
    }
}

#[test]
fn missing_properties_come_first_in_required_order() {
    let schema = ObjectSchema::new()
        .required("a", Schema::string(""))
        .optional("x", Schema::number(""))
        .required("b", Schema::string(""))
        .required("c", Schema::string(""));
    assert_eq!(
        message(&schema, &json!({"x": "1", "b": 2})),
        "invalid arguments: missing required property \"a\"; missing required property \"c\"; \
         \"x\" must be a number; \"b\" must be a string"
    );
}

#[test]
fn says_which_type_is_wanted() {
    let text = || json!("text");
    assert_eq!(property(Schema::string(""), json!(1)), "\"p\" must be a string");
    assert_eq!(property(Schema::number(""), text()), "\"p\" must be a number");
    assert_eq!(property(Schema::integer(""), text()), "\"p\" must be an integer");
    assert_eq!(property(Schema::integer(""), json!(1.5)), "\"p\" must be an integer");
    assert_eq!(property(Schema::boolean(""), json!(1)), "\"p\" must be a boolean");
    assert_eq!(property(Schema::null(""), json!(0)), "\"p\" must be null");
    assert_eq!(property(Schema::array("", Schema::any("")), json!({})), "\"p\" must be an array");
    assert_eq!(property(Schema::object("", ObjectSchema::new()), json!([])), "\"p\" must be an object");
}

#[test]
fn null_does_not_stand_for_an_absent_optional() {
    assert_eq!(property(Schema::string(""), json!(null)), "\"p\" must be a string");
    assert_eq!(property(Schema::number(""), json!(null)), "\"p\" must be a number");
}

#[test]
fn an_integer_is_any_number_with_an_integral_value() {
    for value in [json!(2), json!(2.0), json!(-3), json!(1e308), json!(u64::MAX)] {
        assert_eq!(property(Schema::integer(""), value.clone()), "ok", "{value}");
        assert_eq!(property(Schema::number(""), value), "ok");
    }
    assert_eq!(property(Schema::number(""), json!(1.5)), "ok");
}

#[test]
fn negative_zero_is_no_json_number() {
    assert_eq!(property(Schema::number(""), json!(-0.0)), "\"p\" must be a finite JSON number");
    assert_eq!(property(Schema::integer(""), json!(-0.0)), "\"p\" must be a finite JSON number");
    assert_eq!(property(Schema::number(""), json!(0.0)), "ok");
}

#[test]
fn lists_the_values_as_javascript_prints_them() {
    let schema = || Schema::enum_of("", ["workspace-write", "say \"hi\"\n"]);
    assert_eq!(property(schema(), json!("workspace-write")), "ok");
    assert_eq!(property(schema(), json!("root")), r#""p" must be one of ["workspace-write","say \"hi\"\n"]"#);
    assert_eq!(property(schema(), json!(1)), "\"p\" must be a string");
    assert_eq!(property(Schema::constant("", "x"), json!("y")), r#""p" must be "x""#);
    assert_eq!(property(Schema::constant("", "x"), json!("x")), "ok");
}

#[test]
fn nested_places_are_named_by_their_path() {
    let point = ObjectSchema::new().required("x", Schema::number("")).required("y", Schema::number(""));
    let schema = ObjectSchema::new()
        .optional("at", Schema::object("", point.clone()))
        .optional("list", Schema::array("", Schema::object("", point)));
    assert_eq!(
        message(&schema, &json!({"at": {"y": "1"}, "list": [{"x": 1, "y": 2}, {"x": null}, 3]})),
        "invalid arguments: missing required property \"at.x\"; \"at.y\" must be a number; \
         missing required property \"list[1].y\"; \"list[1].x\" must be a number; \"list[2]\" must be an object"
    );
}

#[test]
fn only_a_closed_object_refuses_undeclared_properties() {
    let open = ObjectSchema::new().optional("a", Schema::string(""));
    assert_eq!(message(&open, &json!({"a": "", "b": 1, "__proto__": {}})), "ok");
    assert_eq!(
        message(&open.closed(), &json!({"z": 1, "a": 1, "b": 2})),
        "invalid arguments: \"a\" must be a string; \
         \"z\" is not a declared property (additionalProperties: false); \
         \"b\" is not a declared property (additionalProperties: false)"
    );
}

#[test]
fn exactly_one_branch_must_match() {
    let schema = || Schema::one_of("", Schema::number(""), Schema::integer(""), vec![Schema::string("")]);
    assert_eq!(property(schema(), json!("a")), "ok");
    assert_eq!(property(schema(), json!(1.5)), "ok");
    assert_eq!(property(schema(), json!(1)), "\"p\" must match exactly one oneOf branch (matched 2)");
    assert_eq!(property(schema(), json!(true)), "\"p\" must match exactly one oneOf branch (matched 0)");
}
