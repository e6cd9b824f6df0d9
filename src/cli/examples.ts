// An example for each command whose own file gives none, shown below its help. Called by run.ts.
import type { Command } from 'commander';

const examples: Readonly<Record<string, string>> = {
  serve: 'serve --listen 127.0.0.1:8080 --data ./data --public-url https://id.example.com',
  migrate: 'migrate --dry-run',
  'tenant create': 'tenant create acme --name "Acme Inc" --domain https://login.acme.example',
  'tenant list': 'tenant list --json',
  'tenant disable': 'tenant disable acme',
  'tenant enable': 'tenant enable acme',
  'tenant delete': 'tenant delete acme --confirm acme',
  'tenant import-key': 'tenant import-key',
  'tenant reopen': 'tenant reopen acme',
  'tenant move': 'tenant move acme --to https://group-2.internal:8080 --progress',
  'group map':
    'group map --format nginx --group group-1=http://10.0.1.10:8080 --group group-2=http://10.0.2.10:8080 --out /etc/nginx/gatehouse-groups.conf',
  'client create': 'client create Portal --kind web --redirect-uri https://app.example.com/cb --env .gatehouse/portal.env',
  'client list': 'client list --tenant acme',
  'client show': 'client show Xm3kP0aWv1uQ9zT2yB4cDg',
  'client change': `client change Xm3kP0aWv1uQ9zT2yB4cDg 'redirect_uris=["https://app.example/callback"]'`,
  'client delete': 'client delete Xm3kP0aWv1uQ9zT2yB4cDg',
  'client rotate-secret': 'client rotate-secret Xm3kP0aWv1uQ9zT2yB4cDg',
  'user create': 'user create ada@example.com --display-name "Ada Lovelace"',
  'user invite': 'user invite ada@example.com --tenant acme',
  'user recover': 'user recover ada@example.com --reason "Phone lost in Vienna"',
  'user list': 'user list --tenant acme --json',
  'user suspend': 'user suspend ada@example.com',
  'user activate': 'user activate ada@example.com',
  'key rotate': 'key rotate --tenant acme --use oidc --alg ES256',
  'admin invite': 'admin invite --tenant acme',
  'admin list': 'admin list --tenant acme',
  'admin recover': 'admin recover ada@example.com',
  'admin roles': 'admin roles ada@example.com support,auditor',
  api: 'api GET /clients --tenant acme',
  events: 'events --follow --types user.*,refusal',
  'sign-in': 'sign-in "https://id.example.com/v1/idp/oidc/authorize?client_id=app&…" --user ada',
  explain: 'explain 01J8ZQ4W5V7K3M2N1P0R9S8T7X',
  'sign-ins': 'sign-ins --name grace@example.com --since 1h',
  doctor: 'doctor --mail-to ada@example.com --sign-in',
  'config check': 'config check --json',
  contract: 'contract --json',
  'phone conformance': 'phone conformance --driver "node sdk/driver/node.ts"',
  'phone enrol': 'phone enrol --url http://localhost:8080 --email ada@example.com',
  'phone resume': 'phone resume --pin 123456',
  'phone list': 'phone list --wait 25',
  'phone approve': 'phone approve --number 42',
  'phone deny': 'phone deny --reason not_me',
  'phone rotate': 'phone rotate',
  'phone show': 'phone show --json',
};

/** The example of a command by its words, as it follows `gatehouse`. */
export const exampleOf = (words: readonly string[]): string | undefined => examples[words.join(' ')];

/** Adds the examples to a program whose commands are loaded. */
export function addExamples(program: Command, words: readonly string[] = []): void {
  for (const command of program.commands) {
    const path = [...words, command.name()];
    const example = examples[path.join(' ')];
    if (example !== undefined) command.addHelpText('after', `\nExample:\n  gatehouse ${example}`);
    addExamples(command, path);
  }
}
