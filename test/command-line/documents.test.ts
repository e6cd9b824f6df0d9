// Design 02, export / import / plan / apply: one document, from one deployment to another, on both databases.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Running, startBesideCommands, untilStatus } from '../support/command-line.ts';
import { databases, isRequired } from '../support/databases.ts';
import { clientCredentialsToken } from '../support/management.ts';
import { rsaKeys } from '../support/rsa-keys.ts';
import { idpMetadata } from '../support/saml-upstream.ts';

/** `npm run test:full` carries as many as the acceptance asks for. */
const manyUsers = isRequired('postgres') ? 10_000 : 2000;
const secret = 'a-secret-of-the-robot-0123456789abcdef';

interface Outcome {
  readonly changes?: readonly { readonly action: string; readonly noun: string; readonly id: string; readonly title: string }[];
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly unchanged: number;
  readonly secrets: readonly { readonly client_id: string; readonly client_secret: string }[];
}
const countsOf = ({ created, updated, deleted }: Outcome): readonly number[] => [created, updated, deleted];

const everyKind = `gatehouse: 1
settings:
  pin: { length: 8 }
  rate_limits:
    token_requests_per_client: { limit: 5000, period_seconds: 60 }
    login_starts_per_ip: { limit: 500, period_seconds: 60 }
    par_requests_per_ip: null
custom_attributes:
  - { name: cost_code, label: Cost code, unique: true, claim: cost_code }
  - { name: skills, list: true, edit: person }
mappings:
  oidc:
    - { to: department, from: enterprise.department, case: lower, in: [access_token] }
    - { to: cost, from: custom.cost_code }
  saml: [{ to: org, value: Example }]
  inbound: [{ to: custom.cost_code, from: upstream.cost, apply: always }]
resources:
  - identifier: https://api.example.com
    name: API
    access_token_lifetime_seconds: 120
    scopes: [{ name: read, description: Read it }, { name: write }]
clients:
  - client_id: robot
    name: Robot
    token_endpoint_auth_method: client_secret_post
    grant_types: [client_credentials]
    scopes: ["users:read"]
    resources: [management_api]
    mappings: [{ to: department, value: null }]
    client_secret: ${secret}
  - { client_id: jwt, name: With HMAC, token_endpoint_auth_method: client_secret_jwt, client_secret: ${secret} }
  - { client_id: spa, name: Page, type: public, redirect_uris: ["https://spa.example/cb"], access_policy: assigned }
  - { client_id: none, name: Nothing granted, grant_types: [], enabled: false }
identity_providers:
  - { alias: acme, kind: oidc, name: Acme, issuer: "https://acme.example", client_id: us, client_secret: ${secret}, create_users: true }
  - { alias: hub, kind: github, name: GitHub, client_id: us, enabled: false, acr_map: { strong: phone }, mappings: [{ to: title, from: upstream.company }] }
  - { alias: corp, kind: saml, name: Corp, domains: [corp.example], metadata: ${JSON.stringify(await idpMetadata())} }
service_providers:
  - entity_id: https://sp.example/metadata
    acs: [{ url: "https://sp.example/acs" }]
    attribute_map: { custom.cost_code: costCode }
    mappings: [{ to: role, from: groups, only: { prefix: [app-] }, strip: app- }]
    signing_keys:
      - |
${rsaKeys().publicPem.trim().replace(/^/gm, '        ')}
groups:
  - { display_name: Staff }
  - { display_name: Provisioned, origin: scim, external_id: G-1 }
users:
  - user_name: ada
    name: { given_name: Ada, family_name: Lovelace }
    emails: [{ value: Ada@example.com }, { value: ada@home.example, type: home, primary: true }]
    phone_numbers: [{ value: "+44 1", type: work, primary: true }]
    addresses: [{ locality: London, country: GB }]
    enterprise: { department: "R&D", employee_number: "007" }
    custom: { cost_code: K-17, skills: [Chess, Go] }
    groups: [staff, Provisioned]
    role: admin
  - { user_name: bob, state: suspended, origin: scim, external_id: B-1, title: "null", locale: "no" }
assignments:
  - { client: spa, user: ada@home.example }
  - { client: spa, group: Staff }
  - { service_provider: "https://sp.example/metadata", user: bob }
`;

for (const name of databases) {
  describe(`documents on ${name}`, () => {
    let source: Running;
    let target: Running;
    let folder: string;
    const file = (named: string, text?: string): string => {
      const path = join(folder, named);
      if (text !== undefined) writeFileSync(path, text);
      return path;
    };
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'gatehouse-documents-'));
      [source, target] = await Promise.all([startBesideCommands(name), startBesideCommands(name)]);
    });
    after(async () => {
      await Promise.all([source.stop(), target.stop()]);
      rmSync(folder, { recursive: true, force: true });
    });

    it('plan shows what apply does; applied twice it changes nothing; the running server follows', async () => {
      const path = file('all.yaml', everyKind);
      const { stdout, code, stderr } = await source.command('plan', '-f', path);
      const told = await source.command('plan', '-f', path, '--exit-code');
      assert.deepEqual([told.code, told.stdout.split('\n').at(-2)], [3, stdout.split('\n').at(-2)]);
      assert.equal(code, 0, stderr);
      assert.match(
        stdout,
        /^~ settings \S+ main\n {4}pin\.length: 6 -> 8\n {4}(?:login_methods: .*\n {4})?rate_limits\.login_starts_per_ip: \{.*60.*\} -> \{.*500.*\}\n {4}rate_limits\.par_requests_per_ip: \{.*\} -> null\n/,
      );
      assert.match(stdout, /^\+ client robot Robot$/m);
      assert.match(stdout, /^\+ user [0-9a-f-]{36} ada$/m);
      assert.match(stdout, /^Plan: 18 to create, 2 to change, 0 to delete, 0 unchanged\.$/m);
      assert.doesNotMatch(stdout, new RegExp(secret));
      const applied = await source.json<Outcome>('apply', '-f', path);
      assert.deepEqual(countsOf(applied), [18, 2, 0]);
      assert.deepEqual(
        applied.secrets.map((made) => made.client_id),
        ['none'],
      );
      assert.deepEqual(countsOf(await source.json<Outcome>('apply', '-f', path)), [0, 0, 0]);
      const again = await source.json<Outcome>('plan', '-f', path);
      assert.deepEqual([again.changes, again.unchanged], [[], 20]);
      await untilStatus(() => tokenOf(source, secret), 200);
    });

    it('export with secrets, new deployment, import: plan is empty there and here, clients keep their secrets', async () => {
      const path = file('with-secrets.yaml');
      const exported = await source.command('export', '--with-secrets', '--out', path);
      assert.deepEqual([exported.code, exported.stdout], [0, ''], exported.stderr);
      assert.equal(statSync(path).mode & 0o777, 0o600);
      assert.deepEqual((await source.json<Outcome>('plan', '-f', path)).changes, []);
      assert.equal((await source.command('plan', '-f', path, '--exit-code')).code, 0);
      const imported = await target.json<Outcome>('import', path);
      assert.deepEqual(imported.secrets, []);
      assert.deepEqual((await target.json<Outcome>('plan', '-f', path)).changes, []);
      await untilStatus(() => tokenOf(target, secret), 200);
      await clientCredentialsToken(target.url, 'robot', secret);
      const both = await Promise.all([source, target].map(async (running) => (await running.command('export')).stdout));
      // Each deployment has a sample client of its own besides.
      assert.equal(sectionOf(both[0]!, 'users'), sectionOf(both[1]!, 'users'));
      for (const section of ['settings', 'mappings', 'resources', 'identity_providers', 'service_providers', 'groups'])
        assert.equal(sectionOf(both[0]!, section), sectionOf(both[1]!, section));
      assert.deepEqual(idsIn(sectionOf(both[0]!, 'assignments')).sort(), idsIn(sectionOf(both[1]!, 'assignments')).sort());
    });

    it('export without secrets has none, and JSON is the same document', async () => {
      const plain = await source.command('export');
      assert.equal(plain.code, 0);
      assert.doesNotMatch(plain.stdout, /client_secret:|client_secret_sha256|PRIVATE/);
      const json = await source.command('export', '--json');
      const parsed = JSON.parse(json.stdout) as { gatehouse: number; users: readonly unknown[] };
      assert.deepEqual([parsed.gatehouse, parsed.users.length], [1, 2]);
      const path = file('plain.json', json.stdout);
      assert.deepEqual((await source.json<Outcome>('plan', '-f', path)).changes, []);
      await source.fails(2, /--with-secrets: expected --out <file>/, 'export', '--with-secrets');
      await source.fails(1, /--out: expected a file that does not exist yet/, 'export', '--out', path);
    });

    it('a client imported without its secret is given a new one, told once; one that is known keeps its own', async () => {
      const path = file(
        'client.yaml',
        'gatehouse: 1\nclients:\n  - { client_id: fresh, name: Fresh, grant_types: [client_credentials] }\n',
      );
      const first = await target.json<Outcome>('import', path);
      assert.deepEqual(
        first.secrets.map((made) => made.client_id),
        ['fresh'],
      );
      assert.deepEqual((await target.json<Outcome>('import', path)).secrets, []);
    });

    it('a conflict keeps one item out, is told by its place, and the rest is done; exit 1', async () => {
      const taken = 'gatehouse: 1\nusers:\n  - { id: 01900000-0000-7000-8000-000000000001, user_name: ADA }\n  - { user_name: carol }\n';
      const { code, stdout, stderr } = await source.command('apply', '-f', file('taken.yaml', taken));
      assert.equal(code, 1);
      assert.match(stdout, /^\+ user \S+ carol$/m);
      assert.match(stderr, /1 items stayed out.*\n {2}users\[0\] \(ADA\): user_name ada is in use by user /);
      const fixed = `gatehouse: 1\ncustom_attributes:\n  - { name: skills, list: false }\nusers:\n  - { user_name: "\u265A" }\n`;
      const { stderr: told } = await source.command('apply', '-f', file('fixed.yaml', fixed));
      assert.match(told, /custom_attributes\[0\] \(skills\): list is fixed: it is true/);
      assert.match(told, /users\[0\] \(\u265A\): user_name has a character that names may not have \(U\+265A\)/);
    });

    it('a mistake names path, expected, found and line, and nothing is written', async () => {
      const cases: readonly (readonly [text: string, message: RegExp])[] = [
        [
          'gatehouse: 1\nusers:\n  - { user_name: x, custom: { nobody: 1 } }\n',
          /users\[0\]\.custom\.nobody: expected one of the tenant's attributes: cost_code, skills, found 1 \(line 3\)/,
        ],
        [
          'gatehouse: 1\nclients:\n  - client_id: x\n    name: X\n    redirect_uris: ["http://far.example/"]\n',
          /clients\[0\]\.redirect_uris: expected a value that must hold https URIs, .* \(line 5\)/,
        ],
        [
          'gatehouse: 1\nusers:\n  - user_name: dora\n    groups: [nobody]\n',
          /users\[0\]\.groups\[0\]: expected the id or display_name of a group .*, found "nobody" \(line 4\)/,
        ],
        [
          'gatehouse: 1\nassignments:\n  - client: nobody\n    user: ada\n',
          /assignments\[0\]\.client: expected the client_id .*, found "nobody" \(line 3\)/,
        ],
      ];
      for (const [text, message] of cases) await source.fails(1, message, 'apply', '-f', file('wrong.yaml', text));
      const { stdout } = await source.command('user', 'list');
      assert.doesNotMatch(stdout, /dora/);
      await source.fails(2, /expected a file to read, found none at \S+nowhere\.yaml/, 'apply', '-f', join(folder, 'nowhere.yaml'));
    });

    it(`a run that was cut off is completed by the next; ${manyUsers} users round-trip to an empty plan`, async () => {
      const text = manyUsersDocument(manyUsers);
      const half = text.slice(0, text.indexOf(`  - user_name: user${manyUsers / 2}\n`));
      const partial = await source.json<Outcome>('import', file('half.yaml', half));
      assert.equal(partial.created, manyUsers / 2 + 1);
      const { created } = await source.json<Outcome>('import', file('many.yaml', text));
      assert.equal(created, manyUsers / 2);
      const path = file('many-exported.yaml');
      assert.equal((await source.command('export', '--out', path)).code, 0);
      const { deleted } = await target.json<Outcome>('import', path);
      assert.equal(deleted, 0);
      assert.deepEqual((await target.json<Outcome>('plan', '-f', path)).changes, []);
      const users = readFileSync(path, 'utf8').match(/^ {4}user_name: user\d+$/gm);
      assert.equal(users?.length, manyUsers);
    });

    it('progress is told with --progress, and never with --json', async () => {
      const path = file('progress.yaml', 'gatehouse: 1\ngroups:\n  - display_name: Watched\n');
      assert.match((await source.command('import', path, '--progress')).stderr, /^groups 1$/m);
      assert.equal((await source.command('import', path)).stderr, '');
      assert.equal((await source.command('import', path, '--progress', '--json')).stderr, '');
    });

    it('prune deletes what is not in the document, in its sections only, and never the tenant’s own clients', async () => {
      await target.json('tenant', 'create', 'pruned');
      const of = ['--tenant', 'pruned'];
      for (const who of ['ada', 'gone']) await target.json('user', 'create', `${who}@example.com`, ...of);
      const path = file(
        'prune.yaml',
        'gatehouse: 1\nclients:\n  - { client_id: one, name: One, type: public }\nusers:\n  - user_name: ada@example.com\n',
      );
      assert.deepEqual(countsOf(await target.json<Outcome>('apply', '-f', path, ...of)), [1, 1, 0]);
      const planned = await target.json<Outcome>('plan', '-f', path, '--prune', ...of);
      assert.deepEqual(
        planned.changes!.map(({ action, noun, title }) => [action, noun, title]),
        [['delete', 'user', 'gone@example.com']],
      );
      assert.deepEqual(countsOf(await target.json<Outcome>('apply', '-f', path, '--prune', ...of)), [0, 0, 1]);
      assert.deepEqual(countsOf(await target.json<Outcome>('apply', '-f', path, '--prune', ...of)), [0, 0, 0]);
    });
  });
}

function tokenOf({ url }: Running, clientSecret: string): Promise<Response> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'robot', client_secret: clientSecret });
  return fetch(`${url}/v1/idp/oidc/token`, { method: 'POST', body });
}

const sectionOf = (document: string, section: string): string => new RegExp(`^${section}:\\n((?: .*\\n)*)`, 'm').exec(document)?.[1] ?? '';
const idsIn = (text: string): string[] => text.match(/[0-9a-f]{8}-[0-9a-f-]{27}/g) ?? [];

function manyUsersDocument(count: number): string {
  const users = Array.from(
    { length: count },
    (_, at) =>
      `  - user_name: user${at}\n    name: { given_name: Given ${at} }\n    emails: [{ value: user${at}@example.com }]\n    groups: [Many]\n`,
  );
  return `gatehouse: 1\ngroups:\n  - display_name: Many\nusers:\n${users.join('')}`;
}
