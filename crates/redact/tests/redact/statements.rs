//! Passwords in statements and commands of databases.

use longhaul_redact::Kind;

use crate::{finds, stay};

#[test]
fn a_password_is_found_in_every_statement_that_gives_one() {
    let texts = [
        "SET PASSWORD FOR 'app'@'%' = PASSWORD('§');",
        "SET PASSWORD FOR 'app'@'%' = '§';",
        "SET PASSWORD = PASSWORD(\"§\");",
        "set password for 'app'@'%' = password('§');",
        "mysql -e \"SET PASSWORD FOR 'app'@'%' = PASSWORD('§');\"",
        "```sql\nSET PASSWORD = '§';\n```",
        "UPDATE mysql.user SET authentication_string=PASSWORD('§') WHERE user='root';",
        "CREATE USER app IDENTIFIED VIA mysql_native_password USING PASSWORD('§');",
        "ALTER USER app IDENTIFIED BY '§'",
        "ALTER USER 'app'@'%' IDENTIFIED WITH caching_sha2_password BY '§';",
        "ALTER ROLE app WITH ENCRYPTED PASSWORD '§'",
        "ALTER USER app PASSWORD '§';",
        "CREATE LOGIN app WITH PASSWORD = N'§', CHECK_POLICY=OFF",
        "db.createUser({user: \"app\", pwd: \"§\", roles: []})",
        "db.changeUserPassword(\"app\", \"§\")",
        "db.changeUserPassword('app', '§');",
        "db.changeUserPassword(\n  \"app\",\n  \"§\"\n)",
    ];
    finds(Kind::Password, "Blue7horse", &texts);
    finds(Kind::Password, "sunflower", &texts);
    finds(
        Kind::Password,
        "Blue7horse",
        &[
            "UPDATE users SET password = crypt('§', gen_salt('bf')) WHERE id = 1;",
            "UPDATE users SET password = MD5('§');",
        ],
    );
}

#[test]
fn a_password_of_several_words_is_found_where_nothing_else_can_stand() {
    let texts = [
        "CREATE USER app WITH PASSWORD '§'",
        "create user app with password '§';",
        "CREATE USER 'app'@'%' IDENTIFIED BY '§';",
        "alter user app identified by '§'",
        "SET PASSWORD FOR 'app'@'%' = '§';",
        "mysql> CREATE USER app\n    IDENTIFIED BY '§'",
        "psql -c \"ALTER ROLE app PASSWORD '§'\"",
    ];
    finds(Kind::Password, "CorrectHorseBattery", &texts);
    finds(Kind::Password, "correct-horse-battery-staple", &texts);
    finds(
        Kind::Password,
        "CorrectHorseBattery",
        &[
            "<password>§</password>",
            "<server><id>x</id><password>\n  §\n</password></server>",
        ],
    );
    finds(
        Kind::Password,
        "sunshine",
        &[
            "define('DB_PASSWORD', '§');",
            "define( 'DB_PASSWORD', '§' );",
        ],
    );
    stay(&[
        "CREATE USER app WITH PASSWORD 'change-me';",
        "CREATE USER app WITH PASSWORD 'your-password';",
        "CREATE USER app IDENTIFIED BY 'new-password'",
        "it(\"should create user with password 'too-short-for-us'\")",
        "<Password>ForgotLink</Password>",
        "<password>UserPassword</password> <password>string</password>",
        "define('DB_PASSWORD', 'password_here');",
        "Services that grant access are\nidentified by \"billing-api\" in the audit log.",
        "Roles that grant access are identified by 'read-only-admin'.",
        "Create user stories first. Each is identified by 'story-slug' in the board.",
        "To alter user data, open the page identified by \"user-settings\" in the menu.",
        "/* Pages on which users set password and email */\n#define ROUTE_PASSWORD \"account-settings\"",
        "set('password', 'sunshine')",
        "{\"password\": \"forgot-password\"} {\"password\": \"lock-icon\"}",
    ]);
}

#[test]
fn statements_without_a_password_stay() {
    stay(&[
        "SET PASSWORD FOR 'app'@'%' = PASSWORD(?);",
        "SET PASSWORD FOR app = $1;",
        "ALTER USER app IDENTIFIED BY '${DB_PASSWORD}';",
        "ALTER ROLE app WITH PASSWORD NULL;",
        "ALTER USER app PASSWORD EXPIRE;",
        "db.changeUserPassword(user, newPassword)",
        "db.changeUserPassword(\"app\", passwordPrompt())",
        "PASSWORD(\"password\"),",
        "PASSWORD(\"oauth2\"), BASIC(\"basicauth\");",
        "enum Field { PASSWORD('password'), EMAIL('email') }",
        "The user is identified by 'username' in every request.",
    ]);
}

#[test]
fn what_a_query_for_passwords_looks_for_stays() {
    stay(&[
        "SELECT password FROM users WHERE username = 'admin2';",
        "SELECT u.password FROM users u WHERE u.name = 'bob1234'",
        "SELECT user_login, user_pass FROM wp_users WHERE user_login = 'editor01'",
        "select password from users where name = 'bob1234'",
    ]);
    finds(
        Kind::Password,
        "Tr0ub4dor3x",
        &[
            "SELECT password FROM users WHERE password = '§'",
            "the password for bob = §",
        ],
    );
}
