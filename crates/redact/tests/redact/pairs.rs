//! Values whose names stand beside them as values of their own.

use longhaul_redact::{Kind, Redactor};

use crate::{finds, stay};

#[test]
fn a_value_is_known_by_the_member_that_names_it() {
    let texts = [
        r#"{"ParameterKey": "DbPassword", "ParameterValue": "§"}"#,
        r#"{"ParameterValue": "§", "ParameterKey": "DbPassword"}"#,
        "[\n  {\n    \"ParameterKey\": \"DbPassword\",\n    \"ParameterValue\": \"§\"\n  }\n]",
        "[\n  {\n    \"ParameterValue\": \"§\",\n    \"ParameterKey\": \"DbPassword\"\n  }\n]",
        "- ParameterKey: DbPassword\n  ParameterValue: §\n- ParameterKey: Env\n",
        "```yaml\n- ParameterValue: §\n  ParameterKey: DbPassword\n```",
        r#"{"OptionName": "DBPassword", "OptionValue": "§"}"#,
        r#"{"value": "§", "name": "DB_PASSWORD"}"#,
        r#"{"id": "DB_PASSWORD", "value": "§"}"#,
        r#"{"variable": "DB_PASSWORD", "value": "§"}"#,
        "- name: DB_PASSWORD\n  value: §\n",
        "- value: §\n  name: DB_PASSWORD\n",
        r#"{value: '§', key: 'DB_PASSWORD'}"#,
    ];
    finds(Kind::Password, "Blue7horse", &texts);
    finds(Kind::Password, "sunflower", &texts);
    let line = "deploy --parameters ParameterKey=DbPassword,ParameterValue=§ ParameterKey=Env";
    finds(Kind::Password, "Blue7horse", &[line]);
}

#[test]
fn a_member_of_json_is_named_by_any_of_its_objects_members() {
    for json in [
        r#"{"ParameterValue":"Blue7horse","ParameterKey":"DbPassword"}"#,
        r#"{"name":"DB_PASSWORD","id":"42","value":"Blue7horse"}"#,
        r#"{"id":"42","value":"Blue7horse","name":"DB_PASSWORD"}"#,
        r#"{"Environment":[{"Value":"sunflower","Name":"DB_PASSWORD"}]}"#,
    ] {
        let out = Redactor::default().document().json(json).into_owned();
        let secret = ["Blue7horse", "sunflower"];
        let secret = secret.iter().find(|s| json.contains(**s)).unwrap();
        assert_eq!(out, json.replace(secret, "[redacted:password#1]"));
    }
}

#[test]
fn the_name_of_another_object_names_no_value() {
    stay(&[
        r#"[{"ParameterKey": "Env", "ParameterValue": "prod2024x"}, {"ParameterKey": "DbPassword", "UsePreviousValue": true}]"#,
        "- ParameterKey: Env\n  ParameterValue: prod2024x\n- ParameterKey: DbPassword\n",
        "ParameterKey=Env,ParameterValue=prod2024x ParameterKey=DbPassword,UsePreviousValue=true",
        "- name: DB_HOST\n  value: prod2024x\n- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: db\n",
        r#"<option value="prod2024x"></option><input name="password">"#,
        r#"{"value": "{{ vault_password }}", "name": "DB_PASSWORD"}"#,
    ]);
    for json in [
        r#"[{"value":"prod2024x","name":"Env"},{"name":"DB_PASSWORD"}]"#,
        r#"{"value":"prod2024x","next":{"name":"DB_PASSWORD"}}"#,
    ] {
        assert_eq!(Redactor::default().document().json(json), json);
    }
}
