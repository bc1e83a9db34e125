//! A table of pairs in a dozen languages: what is said twice, what only looks
//! alike, what changed, and leave for less than was forbidden.

use super::{Features, Relation};

/// Lines, an older one and a newer.
pub(super) type Pairs = &'static [(&'static str, &'static str)];

/// One statement in two wordings.
const SAME: Pairs = &[
    (
        "Never delete the audit log.",
        "The audit log must never be deleted.",
    ),
    (
        "Do not edit the lock file by hand.",
        "The lock file must not be edited by hand.",
    ),
    (
        "Never expose port 9000 to the internet.",
        "Port 9000 must never be exposed to the internet.",
    ),
    (
        "Don't touch the billing module.",
        "The billing module is off limits.",
    ),
    ("Never use eval.", "eval is forbidden."),
    (
        "Do not use floats for money.",
        "Floats for money are taboo.",
    ),
    (
        "Always encrypt the backups.",
        "Backups must always be encrypted.",
    ),
    (
        "Never log access tokens.",
        "Logging access tokens is prohibited.",
    ),
    (
        "No force pushes to main.",
        "Force pushes to main are not allowed.",
    ),
    (
        "Never run `terraform apply` without a plan.",
        "`terraform apply` must never run without a plan.",
    ),
    (
        "Run the migrations before the deploy.",
        "Migrations must be run before the deploy.",
    ),
    (
        "Never share customer data with partners.",
        "Customer data must never be shared with partners.",
    ),
    ("Sign every release.", "Every release must be signed."),
    (
        "Never write to the production database.",
        "Writing to the production database is forbidden.",
    ),
    (
        "The login tests take 40 seconds.",
        "Tests of the login take 40 seconds.",
    ),
    (
        "The gateway logs are in /var/log/gw.",
        "Logs of the gateway are in /var/log/gw.",
    ),
    (
        "Maria owns the search service.",
        "The search service is owned by Maria.",
    ),
    (
        "Ben maintains the docs site.",
        "The docs site is maintained by Ben.",
    ),
    (
        "The owner of the shop is Klaus.",
        "The shop's owner is Klaus.",
    ),
    (
        "The price of the pro plan is 30 euros.",
        "The pro plan's price is 30 euros.",
    ),
    ("We store images in S3.", "Images are stored in S3."),
    (
        "We deploy the shop with Helm.",
        "The shop is deployed with Helm.",
    ),
    (
        "Niemals Passwörter im Klartext speichern.",
        "Passwörter dürfen niemals im Klartext gespeichert werden.",
    ),
    (
        "Bearbeite nie die generierten Dateien.",
        "Generierte Dateien dürfen nie bearbeitet werden.",
    ),
    (
        "Fass den Ordner legacy nicht an.",
        "Der Ordner legacy ist tabu.",
    ),
    (
        "Keine Deployments am Freitag.",
        "Deployments am Freitag sind verboten.",
    ),
    (
        "Lösche nie das Archiv.",
        "Das Archiv darf nie gelöscht werden.",
    ),
    (
        "Ne jamais supprimer les sauvegardes.",
        "Les sauvegardes ne doivent jamais être supprimées.",
    ),
    (
        "Ne touche pas au module de paiement.",
        "Toucher au module de paiement est interdit.",
    ),
    (
        "N'utilise pas de variables globales.",
        "Les variables globales sont interdites.",
    ),
    (
        "Nunca borres los registros.",
        "Los registros nunca deben borrarse.",
    ),
    (
        "No uses variables globales.",
        "Las variables globales están prohibidas.",
    ),
    (
        "Nunca apague os backups.",
        "Os backups nunca devem ser apagados.",
    ),
    (
        "Non modificare mai il file di lock.",
        "Il file di lock non deve mai essere modificato.",
    ),
    (
        "Verwijder nooit de back-ups.",
        "De back-ups mogen nooit verwijderd worden.",
    ),
    (
        "Nigdy nie usuwaj kopii zapasowych.",
        "Kopii zapasowych nie wolno usuwać.",
    ),
    (
        "Никогда не удаляй резервные копии.",
        "Резервные копии нельзя удалять.",
    ),
    ("Не трогай папку vendor.", "Папку vendor трогать запрещено."),
    ("不要修改生成的代码。", "生成的代码不能修改。"),
    ("禁止在周五部署。", "周五不要部署。"),
    (
        "生成されたコードを編集しないでください。",
        "生成されたコードの編集は禁止です。",
    ),
    (
        "자동 생성 파일을 수정하지 마세요.",
        "자동 생성 파일 수정 금지.",
    ),
    (
        "Never overwrite user files.",
        "User files must never be overwritten.",
    ),
    (
        "Don't rename the public API.",
        "Renaming the public API is forbidden.",
    ),
    (
        "Never restart the broker during the day.",
        "The broker must never be restarted during the day.",
    ),
    ("Do not touch infra/prod.", "infra/prod is off-limits."),
    ("No telemetry.", "Telemetry is banned."),
    (
        "Never merge your own pull requests.",
        "Merging your own pull requests is not permitted.",
    ),
    (
        "Always pin the dependencies.",
        "Dependencies should always be pinned.",
    ),
    (
        "The invoices of the store are sent by Post.",
        "The store's invoices are sent by Post.",
    ),
    (
        "Carlos leads the data team.",
        "The data team is led by Carlos.",
    ),
    (
        "The checkout tests run in 12 seconds.",
        "Tests of the checkout run in 12 seconds.",
    ),
    (
        "Verschicke nie Kundendaten per Mail.",
        "Kundendaten dürfen nie per Mail verschickt werden.",
    ),
    (
        "Keine Umlaute in Dateinamen.",
        "Umlaute in Dateinamen sind nicht erlaubt.",
    ),
    (
        "Ne modifie jamais le schéma.",
        "Le schéma ne doit jamais être modifié.",
    ),
    (
        "Nunca compartas las claves.",
        "Las claves nunca deben compartirse.",
    ),
    ("Никогда не меняй схему базы.", "Схему базы менять нельзя."),
    ("不要删除日志文件。", "日志文件禁止删除。"),
    (
        "Never commit generated code.",
        "generated code must never be committed",
    ),
    ("Never touch the CI config.", "the CI config is off limits"),
    (
        "Never run `make deploy` without a tag.",
        "`make deploy` must never run without a tag.",
    ),
    (
        "The parser tests take 3 minutes.",
        "Tests of the parser take 3 minutes.",
    ),
    (
        "Never hardcode credentials.",
        "Credentials must never be hardcoded.",
    ),
    (
        "Do not reformat vendored code.",
        "Vendored code is not to be reformatted.",
    ),
    ("No deploys after 6pm.", "Deploys after 6pm are prohibited."),
    (
        "Never email customers directly.",
        "Emailing customers directly is not allowed.",
    ),
    (
        "Keep secrets out of the logs.",
        "Secrets must be kept out of the logs.",
    ),
    (
        "Always squash commits before merging.",
        "Commits must always be squashed before merging.",
    ),
    (
        "Don't use wildcard imports.",
        "Wildcard imports are forbidden.",
    ),
    (
        "The standup notes are in Notion.",
        "Notes of the standup are in Notion.",
    ),
    (
        "The capacity of the queue is 500 jobs.",
        "The queue's capacity is 500 jobs.",
    ),
    (
        "Priya manages the vendor contracts.",
        "The vendor contracts are managed by Priya.",
    ),
    (
        "Keine Tests überspringen.",
        "Tests dürfen nicht übersprungen werden.",
    ),
    (
        "Schreibe nie direkt in die Datenbank.",
        "In die Datenbank darf nie direkt geschrieben werden.",
    ),
    (
        "Il ne faut jamais pousser sur main.",
        "Ne jamais pousser sur main.",
    ),
    (
        "No edites los archivos generados.",
        "Los archivos generados no deben editarse.",
    ),
    (
        "Nigdy nie commituj sekretów.",
        "Nie wolno commitować sekretów.",
    ),
    ("Не коммить секреты.", "Секреты коммитить запрещено."),
    ("不要在生产环境测试。", "生产环境禁止测试。"),
    (
        "本番データを変更しないでください。",
        "本番データの変更は禁止です。",
    ),
];

/// The same words, and not the same.
const NOT_SAME: Pairs = &[
    ("Use tabs, never spaces.", "Use spaces, never tabs."),
    (
        "The client must call the server.",
        "The server must call the client.",
    ),
    (
        "Run the linter, then the tests.",
        "Run the tests, then the linter.",
    ),
    ("Never merge main into dev.", "Never merge dev into main."),
    ("Never test without mocks.", "Never mock without tests."),
    (
        "Boris must review Anna's code.",
        "Anna must review Boris's code.",
    ),
    (
        "Deploy only after the review.",
        "Review only after the deploy.",
    ),
    ("Never delete users.", "Never delete usage data."),
    ("Never push to main.", "main is off limits."),
    (
        "Backups of the shop take 3 minutes.",
        "Backups of the blog take 3 minutes.",
    ),
    (
        "Der Server muss den Client prüfen.",
        "Der Client muss den Server prüfen.",
    ),
    (
        "Никогда не копируй из A в B.",
        "Никогда не копируй из B в A.",
    ),
    ("先测试再部署。", "先部署再测试。"),
    ("Commit early.", "Comment early."),
];

/// Two things: neither takes the other's place, and seldom is anybody asked.
const DIFFERENT: Pairs = &[
    ("Clara is my sister.", "Clara moved to Vienna."),
    (
        "Omar is on parental leave until May.",
        "Omar is now the security lead.",
    ),
    (
        "The main branch is protected.",
        "The main office is in Graz now.",
    ),
    (
        "The test database is test_db.",
        "The test manager is Lou now.",
    ),
    (
        "I live in Bremen.",
        "The docs now live at docs.example.com.",
    ),
    (
        "We use Kafka for events.",
        "Upgrades of Kafka happen on Sundays now.",
    ),
    (
        "The Madrid office opens at 8.",
        "The Rome office opens at 9 now.",
    ),
    (
        "The Berlin office has 12 desks.",
        "The Paris office now has 30 desks.",
    ),
    (
        "The Dublin office is on floor 3.",
        "The Cork office is on floor 3.",
    ),
    ("My cat is called Milo.", "My boat is called Luna now."),
    (
        "The staging server runs Debian.",
        "The staging server is in Frankfurt now.",
    ),
    ("Nina likes tea.", "Nina is now on the platform team."),
    (
        "Our budget is 5000 euros.",
        "Our budget meeting is on Mondays now.",
    ),
    (
        "The release notes are in Markdown.",
        "The release train leaves on Tuesdays now.",
    ),
    ("Never deploy on Fridays.", "Standup is on Fridays now."),
    (
        "Use tabs in Makefiles.",
        "Makefiles are generated by CMake now.",
    ),
    (
        "Postgres is our main database.",
        "The Postgres port is now 5433.",
    ),
    ("The API is versioned.", "The API key expires in June."),
    ("Paul drives a Volvo.", "Paul is now vegetarian."),
    ("Redis caches sessions.", "The Redis license changed."),
    (
        "The mobile team sits in Porto.",
        "The mobile app is now at version 4.",
    ),
    (
        "The build needs Node 20.",
        "The build artifacts are now kept for 30 days.",
    ),
    (
        "The customer is Acme.",
        "The customer portal is now in beta.",
    ),
    ("Tickets are in Jira.", "Jira is down on Sundays."),
    ("Never log passwords.", "Never log in as root."),
    ("Never commit generated code.", "Never commit secrets."),
    (
        "The billing module is off limits.",
        "The search module is off limits.",
    ),
    ("Only admins may merge.", "Only admins may deploy."),
    ("Jana ist meine Chefin.", "Jana ist nach Köln gezogen."),
    (
        "Ich wohne in Kiel.",
        "Der neue Server steht jetzt in Fulda.",
    ),
    (
        "Das Büro in Wien hat 20 Plätze.",
        "Das Büro in Linz hat jetzt 8 Plätze.",
    ),
    (
        "Die Tests laufen in Docker.",
        "Die Testdaten liegen jetzt in S3.",
    ),
    ("Luc est mon frère.", "Luc habite maintenant à Nantes."),
    (
        "Le bureau de Lyon ouvre à 8h.",
        "Le bureau de Nice ouvre désormais à 9h.",
    ),
    ("Rosa es mi jefa.", "Rosa está ahora de vacaciones."),
    (
        "El servidor de correo es Postfix.",
        "El servidor de archivos es ahora Samba.",
    ),
    ("O Rui é meu irmão.", "O Rui agora mora em Braga."),
    ("Marta è la mia collega.", "Marta adesso abita a Torino."),
    (
        "Het kantoor in Gent heeft 10 bureaus.",
        "Het kantoor in Breda heeft nu 4 bureaus.",
    ),
    ("Ola jest moją siostrą.", "Ola mieszka teraz w Krakowie."),
    ("Олег мой брат.", "Олег теперь работает в Яндексе."),
    ("Тесты идут 10 минут.", "Сборка теперь идёт 20 минут."),
    ("王伟是我的同事。", "王伟搬到了上海。"),
    ("测试环境用 MySQL。", "测试报告现在每周发一次。"),
    ("田中さんは私の上司です。", "田中さんは今休暇中です。"),
    ("Eva is my cousin.", "Eva started at Google."),
    (
        "Lars is allergic to nuts.",
        "Lars is now the head of sales.",
    ),
    ("The shop runs on Shopify.", "The shop opens at 10 now."),
    (
        "The payment provider is Stripe.",
        "The payment team is hiring now.",
    ),
    (
        "The London warehouse has 4 gates.",
        "The Leeds warehouse now has 6 gates.",
    ),
    ("I work from home.", "The printer now works from the hall."),
    (
        "Elastic stores our logs.",
        "Snapshots of Elastic run hourly now.",
    ),
    (
        "The web client uses React.",
        "The desktop client uses Qt now.",
    ),
    (
        "Never store secrets in git.",
        "Git hooks are now in .githooks.",
    ),
    ("Max ist mein Bruder.", "Max arbeitet jetzt bei Bosch."),
    (
        "Die Küche ist im Erdgeschoss.",
        "Das Lager ist jetzt im Keller.",
    ),
    ("Sophie est ma voisine.", "Sophie a déménagé à Metz."),
    (
        "El horario de la tienda es de 9 a 17.",
        "El horario del almacén es ahora de 7 a 15.",
    ),
    ("Ирина моя сестра.", "Ирина переехала в Тверь."),
    ("李娜是设计师。", "李娜现在在休假。"),
    (
        "The search API allows 100 calls.",
        "The export API allows 10 calls now.",
    ),
    ("Tom is my brother.", "Tom moved to Lisbon."),
    (
        "The release branch is release/1.x.",
        "The release manager is Ines now.",
    ),
    (
        "I live in Hamburg.",
        "API v2 now lives at next.example.com.",
    ),
    (
        "We use Redis for caching.",
        "Backups of Redis run at 05:00 now.",
    ),
    ("Mia is my daughter.", "Mia now plays the violin."),
    (
        "Jonas works remotely.",
        "Jonas is now responsible for hiring.",
    ),
    ("The kitchen is on floor 2.", "The gym is on floor 4 now."),
    (
        "The beta build is signed.",
        "The beta testers are in Lyon now.",
    ),
    (
        "We use Terraform for the cloud.",
        "The Terraform course starts on Monday now.",
    ),
    (
        "The blog is written in Hugo.",
        "The blog has 300 readers now.",
    ),
    ("Never skip the linter.", "The linter takes 20 seconds now."),
    ("The CEO is Dana.", "The CEO's assistant is Rolf now."),
    (
        "Grafana shows the metrics.",
        "Our metrics retention is 90 days now.",
    ),
    (
        "The north gate opens at 6.",
        "The south gate opens at 7 now.",
    ),
    ("I am allergic to cats.", "I work at Bosch now."),
    (
        "The invoice template is in Word.",
        "The contract template is in Docs now.",
    ),
    ("Lea ist Ärztin.", "Lea wohnt jetzt in Bern."),
    (
        "Die Heizung steht im Keller.",
        "Der Drucker steht jetzt im Flur.",
    ),
    (
        "Notre siège est à Paris.",
        "Notre entrepôt est désormais à Lille.",
    ),
    ("Mi hermana vive en Quito.", "Mi jefe vive ahora en Lima."),
    ("Дима любит чай.", "Дима теперь тимлид."),
    ("会议室在二楼。", "食堂现在在一楼。"),
];

/// Rules and statements that share a word or two: nobody is asked at all.
const APART: Pairs = &[
    ("Never deploy on Fridays.", "Never deploy on weekends."),
    (
        "Never deploy on Fridays.",
        "We deploy on Wednesdays from now on.",
    ),
    (
        "Never deploy on Fridays.",
        "Migrations must be run before the deploy.",
    ),
    ("Never push to main.", "Never push to release."),
    (
        "Every release must be signed.",
        "You may push to release from now on.",
    ),
    ("The standup is on Friday.", "The standup is at 9:45 now."),
    (
        "Die Tests laufen in Docker.",
        "Die Tests laufen jetzt mit Vitest.",
    ),
    (
        "Никогда не удаляй файлы.",
        "Никогда не удаляй резервные копии.",
    ),
    ("Only admins may merge.", "Only admins may deploy."),
    ("Nur Admins dürfen mergen.", "Nur Admins dürfen löschen."),
    (
        "The office is on floor 3.",
        "The Dublin office is on floor 3.",
    ),
    ("Office on floor 3.", "Dublin office on floor 3."),
    ("Never commit secrets.", "You may commit to main."),
    ("Use Celsius for ovens.", "Use miles for routes."),
    ("The rent is 900 euros.", "The deposit is in dollars."),
];

/// Something changed: it takes the place, or somebody is asked.
const CHANGED: Pairs = &[
    (
        "Comments must be in English.",
        "Comments may be in French as well.",
    ),
    (
        "My cat is called Milo.",
        "Milo died; our new cat is called Nala.",
    ),
    ("I live in Bremen.", "I moved to Erfurt last month."),
    ("We meet at 9.", "We meet at 10 now."),
    (
        "Our CI is Jenkins.",
        "We migrated from Jenkins to GitHub Actions.",
    ),
    ("Sara is the CTO.", "Sara resigned; the CTO is Igor."),
    (
        "Use 2 spaces for indentation.",
        "Use 4 spaces for indentation from now on.",
    ),
    ("The repo is on GitLab.", "The repo is on Codeberg now."),
    ("Our mascot is a fox.", "Our mascot is now an owl."),
    (
        "Reviews need two approvals.",
        "Reviews need only one approval now.",
    ),
    (
        "The deadline is 1 June.",
        "The deadline was moved to 15 June.",
    ),
    ("We support IE11.", "IE11 is no longer supported."),
    (
        "The office is on floor 3.",
        "We moved the office to floor 5.",
    ),
    ("Never commit to main.", "Committing to main is fine now."),
    (
        "Commits to main are forbidden.",
        "You may commit to main from now on.",
    ),
    (
        "All PRs must be squashed.",
        "PRs don't have to be squashed anymore.",
    ),
    (
        "The password rotates every 30 days.",
        "The password rotates every 90 days now.",
    ),
    ("Answer in English.", "Please answer in French from now on."),
    (
        "The cache is Redis.",
        "We replaced Redis with Valkey for the cache.",
    ),
    ("My car is a Golf.", "I sold the Golf; my car is a Zoe now."),
    ("Dana is on call.", "Felix is on call now."),
    (
        "The search service is owned by Maria.",
        "Theo owns the search service now.",
    ),
    (
        "Ich wohne in Kiel.",
        "Ich bin letzte Woche nach Jena gezogen.",
    ),
    (
        "Unser Hund heißt Bello.",
        "Bello ist gestorben, unser neuer Hund heißt Luna.",
    ),
    (
        "Kommentare müssen auf Englisch sein.",
        "Kommentare dürfen auch auf Deutsch sein.",
    ),
    (
        "Der Termin ist am Montag.",
        "Der Termin ist jetzt am Dienstag.",
    ),
    (
        "Niemals direkt auf main pushen.",
        "Direkt auf main pushen ist jetzt erlaubt.",
    ),
    ("J'habite à Lille.", "J'ai déménagé à Rennes."),
    ("La base est MySQL.", "La base est désormais MariaDB."),
    (
        "Ne jamais fusionner sans revue.",
        "Tu peux fusionner sans revue maintenant.",
    ),
    ("Vivo en Sevilla.", "Me mudé a Bilbao el mes pasado."),
    ("El líder es Pablo.", "Pablo se fue; la líder es Nuria."),
    ("Moro no Porto.", "Mudei para Lisboa."),
    ("Il server è a Milano.", "Il server è adesso a Roma."),
    (
        "De server draait op Ubuntu.",
        "De server draait nu op Debian.",
    ),
    ("Mieszkam w Gdańsku.", "Przeprowadziłem się do Łodzi."),
    ("Я живу в Самаре.", "Я переехал в Казань."),
    (
        "Нашу собаку зовут Рекс.",
        "Рекс умер, нашу новую собаку зовут Белка.",
    ),
    ("Наш менеджер — Анна.", "Анна ушла, наш менеджер — Борис."),
    ("我住在北京。", "我搬到了杭州。"),
    ("我们的数据库是 MySQL。", "数据库改成 PostgreSQL 了。"),
    ("サーバーは東京にあります。", "サーバーは大阪に移りました。"),
    ("서버는 서울에 있습니다.", "서버는 부산으로 이전했습니다."),
    (
        "Docs must be in Markdown.",
        "Docs may also be in AsciiDoc now.",
    ),
    (
        "Our parrot is called Kiwi.",
        "Kiwi passed away; our new parrot is called Mango.",
    ),
    ("I live in Dresden.", "I relocated to Halle in spring."),
    ("My bank is Sparkasse.", "My bank is now N26."),
    (
        "Kim is the designer.",
        "Kim stepped down; Lee is the designer.",
    ),
    ("The standup is at 9:15.", "The standup is at 9:45 now."),
    (
        "We host on AWS.",
        "We moved everything from AWS to Hetzner.",
    ),
    (
        "Never push to release.",
        "You may push to release from now on.",
    ),
    (
        "The Docker images are built by Kaniko.",
        "The Docker images are built by Buildah now.",
    ),
    (
        "Die Tests laufen mit Jest.",
        "Die Tests laufen jetzt mit Vitest.",
    ),
    ("Ich wohne in Ulm.", "Ich bin nach Trier umgezogen."),
    (
        "Le chef de projet est Yann.",
        "Yann a démissionné ; le chef de projet est Inès.",
    ),
    (
        "Mi perro se llama Toby.",
        "Toby murió; mi nuevo perro se llama Coco.",
    ),
    ("Я живу в Перми.", "Я переехала в Омск."),
    ("办公室在三楼。", "办公室搬到五楼了。"),
    (
        "Rapporten moeten in het Nederlands.",
        "Rapporten mogen nu ook in het Engels.",
    ),
    (
        "Tickets must be in English.",
        "Tickets may also be in Dutch.",
    ),
    (
        "Commit messages must be in English.",
        "Commit messages may be in German as well.",
    ),
    (
        "My dog is called Rex.",
        "Rex died; our new dog is called Bella.",
    ),
    ("I live in Hamburg.", "I moved to Leipzig last week."),
    (
        "Reports must be in PDF.",
        "Reports can also be in HTML from now on.",
    ),
    (
        "Our goldfish is called Bubbles.",
        "Bubbles died. Our new goldfish is called Flash.",
    ),
    ("I live in Porto.", "I'm moving to Braga."),
    (
        "The API limit is 100 requests per minute.",
        "The API limit was raised to 250 requests per minute.",
    ),
    (
        "Hannah is the treasurer.",
        "Hannah resigned, the treasurer is Ole.",
    ),
    (
        "We deploy on Tuesdays.",
        "We deploy on Wednesdays from now on.",
    ),
    (
        "The design files are in Sketch.",
        "The design files are in Figma now.",
    ),
    (
        "Never use nightly features.",
        "Nightly features are fine now.",
    ),
    (
        "Always ask before deleting branches.",
        "You no longer have to ask before deleting branches.",
    ),
    (
        "Our domain is tides.example.",
        "Our domain changed to waves.example.",
    ),
    (
        "The database is owned by Team Red.",
        "Team Blue owns the database now.",
    ),
    (
        "Unser Büro ist in Mainz.",
        "Unser Büro ist nach Worms umgezogen.",
    ),
    ("Antworte auf Deutsch.", "Antworte ab jetzt auf Englisch."),
    (
        "Notre chat s'appelle Minou.",
        "Minou est mort, notre nouveau chat s'appelle Félix.",
    ),
    ("Vivo a Bari.", "Mi sono trasferito a Lecce."),
    ("Ik woon in Utrecht.", "Ik ben naar Zwolle verhuisd."),
    ("Сервер в Москве.", "Сервер переехал в Казань."),
    ("项目用 Python 3.9。", "项目现在用 Python 3.12。"),
    ("Answer in German.", "Answer in German and English."),
    (
        "Write guides in French and Dutch.",
        "Write guides in French.",
    ),
    ("Use Celsius everywhere.", "Use Fahrenheit everywhere."),
    ("Prices in francs.", "Prices in euros."),
    ("距离用公里。", "距离用英里。"),
    ("We moved to WooCommerce.", "We are back on Shopify."),
    ("We moved to WooCommerce.", "We went back to Shopify."),
    ("Wir sind zu Odoo gezogen.", "Wir sind wieder bei Lexware."),
    (
        "The workshop is at Elm Street 3.",
        "The workshop is now at Dock Road 9.",
    ),
    ("I have 23 hives.", "I have 20 hives."),
    ("我有23个蜂箱。", "我有20个蜂箱。"),
    ("我的店在上海。", "我的店现在在杭州。"),
    ("Tengo 23 colmenas.", "Tengo 20 colmenas."),
    ("El almacén está en Vigo.", "El almacén está ahora en Lugo."),
    ("Dana is on call.", "Felix is on call."),
    ("Only admins may merge.", "Only maintainers may merge."),
];

/// Leave for less than was forbidden: the rest of the rule stands, and somebody
/// is asked.
const LESS: Pairs = &[
    (
        "Hotfixes and features must never be deployed on weekends.",
        "You may deploy hotfixes on weekends from now on.",
    ),
    (
        "Never deploy on weekends.",
        "You may deploy hotfixes on weekends from now on.",
    ),
    (
        "Hotfixes and features must never be deployed on weekends.",
        "You can deploy typo fixes on weekends now.",
    ),
    (
        "Niemals am Wochenende deployen.",
        "Du darfst Hotfixes am Wochenende ab jetzt deployen.",
    ),
    (
        "Keine Pakete installieren.",
        "Du darfst jetzt Testpakete von Hand installieren.",
    ),
    (
        "Ne jamais fusionner sans revue.",
        "Tu peux fusionner les corrections de typos sans revue maintenant.",
    ),
    (
        "Nunca despliegues los viernes.",
        "Ahora puedes desplegar la documentación los viernes.",
    ),
    (
        "Nunca faça deploy na sexta.",
        "Agora podes fazer deploy da documentação na sexta.",
    ),
    (
        "Mai fare deploy di venerdì.",
        "Adesso puoi fare deploy della documentazione di venerdì.",
    ),
    (
        "Nooit op vrijdag deployen.",
        "Je mag nu documentatie op vrijdag deployen.",
    ),
    (
        "Nigdy nie wdrażaj w piątek.",
        "Od teraz możesz wdrażać dokumentację w piątek.",
    ),
    (
        "Никогда не деплой по пятницам.",
        "Теперь можно деплоить документацию по пятницам.",
    ),
    ("不要在周五部署。", "现在周五可以部署文档了。"),
    (
        "金曜日にデプロイしないでください。",
        "これからは金曜日にドキュメントをデプロイしてもいいです。",
    ),
    (
        "금요일에 배포하지 마세요.",
        "이제 금요일에 문서를 배포해도 됩니다.",
    ),
    (
        "Never restart production.",
        "You may restart the production cache from now on.",
    ),
    (
        "Niemals Branches löschen.",
        "Du darfst ab jetzt gemergte Branches löschen.",
    ),
    (
        "Ne jamais modifier la configuration.",
        "Tu peux désormais modifier la configuration de test.",
    ),
    (
        "Nunca borres tablas.",
        "Ahora puedes borrar tablas temporales.",
    ),
    (
        "Никогда не удаляй файлы.",
        "Теперь можно удалять временные файлы.",
    ),
    ("不要修改数据库。", "现在可以修改测试数据库了。"),
    (
        "Never edit migrations.",
        "You may edit unreleased migrations from now on.",
    ),
    (
        "Keine externen Dienste aufrufen.",
        "Du darfst jetzt externe Dienste in Tests aufrufen.",
    ),
    (
        "Ne pas utiliser de bibliothèques externes.",
        "Tu peux maintenant utiliser des bibliothèques externes pour les tests.",
    ),
    (
        "Nunca uses sudo.",
        "Ahora puedes usar sudo en el contenedor.",
    ),
    (
        "Non toccare la produzione.",
        "Adesso puoi toccare la produzione di notte.",
    ),
    (
        "Никогда не пушь в main.",
        "Теперь можно пушить документацию в main.",
    ),
    ("不要删除文件。", "现在可以删除临时文件了。"),
];

/// Of a part, or of another one by its number.
const PARTS: Pairs = &[
    ("Never open hatch 3.", "Never open hatch 4."),
    ("Never lend bike 12.", "Never lend bike 15."),
    ("Nie Tor 2 öffnen.", "Nie Tor 5 öffnen."),
    ("Always oil gate 2.", "Always oil gate 5."),
    (
        "The fee is 90 euros.",
        "The fee of the annex is 12 euros now.",
    ),
    (
        "The kiln runs at 900 degrees.",
        "The kiln in the barn runs at 1100 degrees now.",
    ),
    ("Postage is 5 euros.", "Postage to Iceland is 12 euros now."),
    (
        "Die Miete beträgt 900 Euro.",
        "Die Miete für die Garage beträgt jetzt 120 Euro.",
    ),
    (
        "Le loyer est de 900 euros.",
        "Le loyer du garage est maintenant de 120 euros.",
    ),
];

/// A team and its tools say nothing of where somebody lives.
const TOOLS: Pairs = &[
    ("I live in Berlin.", "We moved to MySQL."),
    ("I live in Berlin.", "We are back on Postgres."),
    ("I live in Berlin.", "We moved to GitHub."),
    ("I live in Berlin.", "We went back to Slack."),
    ("I live in Berlin.", "We moved to weekly releases."),
    ("I moved to Leipzig.", "We moved to GitLab."),
    ("I am based in Porto.", "We have moved to Terraform."),
    ("Ich wohne in Köln.", "Wir sind auf MySQL umgezogen."),
    ("Ich wohne in Köln.", "Wir sind wieder bei Lexware."),
    ("J'habite à Lille.", "Nous sommes revenus à Postgres."),
    ("Vivo en Lugo.", "Hemos vuelto a Jenkins."),
    ("Mieszkam w Łodzi.", "Wróciliśmy do Postgresa."),
    ("Я живу в Казани.", "Мы переехали на Postgres."),
    ("We are based in Oslo.", "I moved to the platform team."),
];

/// Several moved, nobody knows from where: it closes nothing.
const MOVES: Pairs = &[
    ("We moved to GitHub.", "We moved to Slack."),
    ("We moved to Kubernetes.", "We moved to Stripe."),
    ("We are back on Postgres.", "We are back on Jira."),
    ("We live in Bremen.", "We moved to Erfurt."),
    ("We moved to MySQL.", "We moved to the third floor."),
    ("Wir sind zu Odoo gezogen.", "Wir sind wieder bei Lexware."),
];

fn relation(a: &str, b: &str) -> Relation {
    let (a, b) = (Features::of(a), Features::of(b));
    match a.is_said_again(&b) || a.is_same_rule(&b) || a.is_same_statement(&b) {
        true => Relation::Same,
        false => a.relation(&b),
    }
}

/// Pairs of which something else was found than is right.
pub(super) fn missed(pairs: Pairs, right: &[Relation]) -> Vec<String> {
    let all = pairs.iter().map(|(a, b)| (relation(a, b), a, b));
    let wrong = all.filter(|(found, ..)| !right.contains(found));
    wrong
        .map(|(found, a, b)| format!("{found:?}: {a} / {b}"))
        .collect()
}

const OTHER: &[Relation] = &[Relation::None, Relation::Perhaps, Relation::Replaces];

#[test]
fn one_statement_in_two_wordings_is_one() {
    let missed = missed(SAME, &[Relation::Same]);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn the_same_words_in_another_order_or_of_another_thing_are_not_one() {
    let missed = missed(NOT_SAME, OTHER);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_is_said_of_two_things_stays_and_is_seldom_asked_about() {
    let closed = missed(DIFFERENT, &[Relation::None, Relation::Perhaps]);
    assert!(closed.is_empty(), "{closed:#?}");
    let asked = missed(DIFFERENT, &[Relation::None]);
    assert!(asked.len() * 15 <= DIFFERENT.len(), "{asked:#?}");
}

#[test]
fn what_shares_a_word_with_a_rule_is_not_asked_about() {
    let asked = missed(APART, &[Relation::None]);
    assert!(asked.is_empty(), "{asked:#?}");
}

#[test]
fn what_changed_is_noticed() {
    let missed = missed(CHANGED, &[Relation::Replaces, Relation::Perhaps]);
    assert!(missed.len() * 20 <= CHANGED.len(), "{missed:#?}");
}

#[test]
fn leave_for_less_is_asked_about_and_lifts_nothing() {
    let missed = missed(LESS, &[Relation::Perhaps]);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_is_said_of_a_part_or_of_another_number_closes_nothing() {
    let closed = missed(PARTS, &[Relation::None, Relation::Perhaps]);
    assert!(closed.is_empty(), "{closed:#?}");
    let bans = missed(&PARTS[..2], &[Relation::None]);
    assert!(bans.is_empty(), "{bans:#?}");
    let more = relation(
        "Never start more than 3 workers.",
        "Never start more than 5 workers.",
    );
    assert_eq!(more, Relation::Perhaps);
}

#[test]
fn bans_of_two_that_are_told_by_a_number_both_stand_whatever_follows() {
    let which: Pairs = &[
        (
            "Never open valve 3 without asking.",
            "Never open valve 4 without asking.",
        ),
        (
            "Never restart web-01 without asking.",
            "Never restart web-02 without asking.",
        ),
        (
            "Never unlock gate 3 before 8am.",
            "Never unlock gate 5 before 8am.",
        ),
    ];
    let marked = missed(which, &[Relation::None]);
    assert!(marked.is_empty(), "{marked:#?}");
    let much: Pairs = &[
        (
            "Never deploy the shop after 18:00 without asking.",
            "Never deploy the shop after 20:00 without asking.",
        ),
        (
            "Never spend 300 euros without asking.",
            "Never spend 500 euros without asking.",
        ),
    ];
    let unmarked = missed(much, &[Relation::Replaces, Relation::Perhaps]);
    assert!(unmarked.is_empty(), "{unmarked:#?}");
}

#[test]
fn the_tools_of_a_team_take_the_place_of_no_home() {
    let asked = missed(TOOLS, &[Relation::None]);
    assert!(asked.is_empty(), "{asked:#?}");
    let closed = missed(MOVES, &[Relation::None, Relation::Perhaps]);
    assert!(closed.is_empty(), "{closed:#?}");
    let moved = relation("I live in Berlin.", "I live in Lisbon now.");
    assert_eq!(moved, Relation::Replaces);
    // Who tells of something else that moved says which.
    let moved = relation(
        "The repo is on GitHub.",
        "The repo moved to GitLab, I updated the remotes.",
    );
    assert_eq!(moved, Relation::Replaces);
    // Nobody knows of a name whether it is a place.
    for name in ["Lisbon", "Neovim"] {
        let moved = relation(
            "I live in Berlin.",
            &format!("I moved to {name} last week."),
        );
        assert_eq!(moved, Relation::Perhaps, "{name}");
    }
}

/// A rule and its denial, whichever came first.
const DENIED: Pairs = &[
    ("Always squash commits.", "Don't squash commits any more."),
    ("Always squash commits.", "Don't squash commits anymore."),
    ("Use type hints.", "Don't use type hints any more."),
    ("Use type hints.", "Don't use type hints."),
    (
        "Always answer in bullet points.",
        "No bullet points any more.",
    ),
    ("Use semicolons.", "No semicolons."),
    ("No semicolons.", "Use semicolons."),
    ("Use tabs.", "No tabs."),
    ("Use emojis.", "No emojis."),
    ("No emojis.", "Use emojis again."),
    ("Never use var.", "Use var again."),
    ("Never use var.", "Use var again from now on."),
    ("Always add a footer.", "No footers."),
    ("Always add comments.", "No more comments."),
    ("Include diagrams.", "No diagrams, please."),
    ("Always write tests.", "Skip the tests from now on."),
    ("Do not ping reviewers.", "Ping reviewers again."),
    ("Verwende Emojis.", "Keine Emojis mehr."),
    ("Keine Emojis.", "Verwende wieder Emojis."),
    ("Schreibe immer Tests.", "Schreibe keine Tests mehr."),
    ("Immer duzen.", "Nicht mehr duzen."),
    ("Toujours signer les commits.", "Ne signe plus les commits."),
    ("Utilise des emojis.", "N'utilise plus d'emojis."),
    ("Ne signe pas les commits.", "Signe les commits à nouveau."),
    ("Siempre firma los commits.", "Ya no firmes los commits."),
    ("Usa emojis.", "Ya no uses emojis."),
    ("No uses emojis.", "Usa emojis de nuevo."),
    ("Nunca uses emojis.", "Vuelve a usar emojis."),
    ("Never mock the database.", "Mock the database again."),
    ("Non usare emoji.", "Usa di nuovo emoji."),
    ("Gebruik emoji.", "Geen emoji meer."),
    ("Используй эмодзи.", "Не используй больше эмодзи."),
    ("Всегда пиши тесты.", "Больше не пиши тесты."),
    ("总是写测试。", "不要再写测试了。"),
    ("使用表情符号。", "不要再使用表情符号。"),
    ("不要使用表情符号。", "重新使用表情符号。"),
];

#[test]
fn a_rule_and_its_denial_are_a_change() {
    let missed = missed(DENIED, &[Relation::Replaces]);
    assert!(missed.is_empty(), "{missed:#?}");
}

/// What denies something else, or a part of it, or lasts beside it.
const BESIDE: Pairs = &[
    ("Push after the tests.", "Don't push before the tests."),
    ("Use tabs.", "No tables."),
    ("Write tests.", "No flaky tests."),
    ("Use semicolons.", "No semicolons in Python."),
    ("Never use var.", "Use const again."),
    ("Always sign commits.", "Never sign contracts."),
    ("Use tabs in Makefiles.", "No tabs in Python."),
    ("No emojis.", "Use icons."),
    ("Keine Emojis.", "Verwende Tabellen."),
    ("No secrets in logs.", "Log requests."),
    ("Never use Redis.", "We use Redis again."),
    ("No uses Redis.", "Usamos Redis de nuevo."),
];

#[test]
fn what_denies_another_thing_closes_nothing() {
    let closed = missed(BESIDE, &[Relation::None, Relation::Perhaps]);
    assert!(closed.is_empty(), "{closed:#?}");
    let asked = missed(BESIDE, &[Relation::None]);
    // What is done against a rule is asked about.
    assert!(asked.len() <= 4, "{asked:#?}");
}

/// One manner and its opposite.
const MANNERS: Pairs = &[
    ("Be brief.", "Be verbose."),
    ("Be brief.", "Keep answers long."),
    ("Keep answers short.", "Answer at length from now on."),
    ("Short answers, please.", "Explain things in detail."),
    ("Metric units only.", "Imperial units from now on."),
    ("Be formal.", "Be casual."),
    ("Use British English.", "Use American English."),
    ("Antworte kurz.", "Antworte ausführlich."),
    ("Réponds brièvement.", "Réponses détaillées, désormais."),
    ("Respuestas cortas.", "Respuestas detalladas."),
    ("Отвечай кратко.", "Отвечай подробно."),
    ("回答简短。", "回答详细。"),
];

#[test]
fn a_manner_and_its_opposite_are_not_both_kept_unseen() {
    let missed = missed(MANNERS, &[Relation::Replaces, Relation::Perhaps]);
    assert!(missed.is_empty(), "{missed:#?}");
}
