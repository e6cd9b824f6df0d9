// `gatehouse import --from`: what a Keycloak realm export and an Auth0 user export become, and what is left with its reason.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Running, startBesideCommands, untilStatus } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';

const secret = 'Zx81mQ4tR7vB2nK5pL8sD1fG3hJ6wY9c';
const ada = '5f0c2f2e-8a51-4b8f-9c43-0d3c8f1b7a11';
const staff = '0c7a4f5e-3f0b-4f6b-8a7a-6b0d9e1c2d33';

const realm = {
  realm: 'acme',
  groups: [{ id: staff, name: 'Staff', path: '/Staff', subGroups: [{ name: 'Engineering', path: '/Staff/Engineering', subGroups: [] }] }],
  roles: { realm: [{ name: 'auditor' }, { name: 'offline_access' }, { name: 'staff' }], client: { portal: [{ name: 'editor' }] } },
  users: [
    {
      id: ada, username: 'ada', email: 'ada@example.com', emailVerified: true, firstName: 'Ada', lastName: 'Lovelace', enabled: true,
      attributes: { department: ['R&D'], shoeSize: ['38'], phoneNumber: ['+44 1'] }, credentials: [{ type: 'password' }],
      groups: ['/Staff/Engineering'], realmRoles: ['auditor', 'offline_access', 'staff'],
    },
    { username: 'bob', email: 'bob@example.com', emailVerified: false, enabled: false },
    { username: 'service-account-robot', serviceAccountClientId: 'robot' },
  ],
  organizations: [
    { name: 'Acme Ltd', alias: 'Acme Ltd.', enabled: true, description: 'First', attributes: { plan: ['gold'] }, members: [{ username: 'ADA', membershipType: 'MANAGED' }, { username: 'gone' }],
      domains: [{ name: 'Acme.example', verified: true }, { name: 'no domain' }], identityProviders: [{ alias: 'entra' }] },
    { name: 'globex', alias: 'globex', enabled: false, members: [{ username: 'ada' }, { username: 'bob' }] },
    { name: 'Globex', alias: 'GLOBEX' },
  ],
  clients: [
    { clientId: 'account', publicClient: true },
    { clientId: 'portal', name: 'Portal', secret: '**********', redirectUris: ['https://portal.example/cb', 'https://portal.example/*'], defaultClientScopes: ['profile', 'web-origins'] },
    { clientId: 'robot', secret, serviceAccountsEnabled: true, standardFlowEnabled: false, redirectUris: [] },
    { clientId: 'page', publicClient: true, redirectUris: ['https://page.example/'], implicitFlowEnabled: true },
    { clientId: 'https://sp.example', protocol: 'saml' },
  ],
}; // biome-ignore format: a fixture as an export has it

const users = [
  {
    user_id: 'auth0|1',
    email: 'eve@example.com',
    email_verified: true,
    name: 'Eve',
    nickname: 'e',
    app_metadata: { plan: 'x' },
    identities: [],
  },
  { user_id: 'google-oauth2|2', email: 'finn@example.com', email_verified: false, blocked: true, given_name: 'Finn' },
];

const customers = [
  { id: 'org_1', name: 'initech_ltd', display_name: 'Initech Ltd', metadata: { plan: 'gold' }, branding: { logo_url: 'https://acme.example/l.svg', colors: { primary: '#4A45D6', page_background: '#fff' } },
    discovery_domains: [{ domain: 'initech.example', status: 'verified' }],
    enabled_connections: [
      { connection_id: 'con_1', assign_membership_on_login: true, connection: { name: 'initech-entra', strategy: 'waad' } },
      { connection_id: 'con_2', assign_membership_on_login: true, connection: { name: 'google-oauth2', strategy: 'google-oauth2' } },
      { connection_id: 'con_3', connection: { name: 'shared-saml', strategy: 'samlp' } },
    ],
    members: [
      { user_id: 'auth0|1', roles: [{ id: 'rol_1', name: 'Billing Admin', description: 'Pays' }, { id: 'rol_2', name: 'viewer' }, { id: 'rol_3', name: '2nd' }] },
      { user_id: 'auth0|gone' },
    ] },
  { id: 'org_2', name: 'umbrella', display_name: 'umbrella', metadata: { text: 'x'.repeat(5000) }, branding: { colors: { primary: 'red' } },
    enabled_connections: [{ connection_id: 'con_3', connection: { name: 'shared-saml', strategy: 'samlp' } }],
    members: [{ user_id: 'auth0|1' }, { user_id: 'google-oauth2|2', roles: [{ name: 'viewer' }] }] },
  { id: 'org_3', name: 'Umbrella' },
]; // biome-ignore format: a fixture as the Management API has it

interface Outcome {
  readonly created: number;
  readonly updated: number;
  readonly secrets: readonly { readonly client_id: string }[];
  readonly left: readonly { readonly count: number; readonly reason: string }[];
}
type Listed = readonly { readonly id: string; readonly user_name: string; readonly state: string; readonly emails: readonly string[] }[];

for (const name of databases) {
  describe(`importers on ${name}`, () => {
    let running: Running;
    let folder: string;
    const file = (named: string, text: string): string => {
      writeFileSync(join(folder, named), text);
      return join(folder, named);
    };
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'gatehouse-import-'));
      running = await startBesideCommands(name);
    });
    after(async () => {
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it('a Keycloak realm: users, groups, roles, clients, and an account of the rest; twice changes nothing', async () => {
      const path = file('realm.json', JSON.stringify(realm));
      const dry = await running.json<Outcome>('import', path, '--from', 'keycloak', '--dry-run');
      assert.equal(dry.created, 11);
      const done = await running.json<Outcome>('import', path, '--from', 'keycloak');
      assert.deepEqual([done.created, done.secrets.map((made) => made.client_id)], [11, ['portal']]);
      const reasons = done.left.map(({ reason }) => reason).join('\n');
      for (const told of [
        /^client roles: /m,
        /^user attribute shoeSize: /m,
        /^unverified emails: /m,
        /^passwords and other credentials: /m,
        /^service account users: /m,
        /^redirect URI https:\/\/portal\.example\/\* of portal: /m,
        /^secret of portal: the export masks it/m,
        /^implicit flow: /m,
        /^SAML clients: /m,
        /^organizations: without an alias/m,
        /^domains of organizations: /m,
        /^identity providers of organizations: /m,
      ])
        assert.match(reasons, told);
      const listed = await running.json<Listed>('user', 'list');
      assert.deepEqual(
        listed.find((user) => user.user_name === 'ada'),
        { id: ada, user_name: 'ada', emails: ['ada@example.com'], state: 'active', role: 'user' },
      );
      assert.equal(listed.find((user) => user.user_name === 'bob')?.state, 'suspended');
      const {
        groups,
        users: exported,
        organizations,
      } = JSON.parse((await running.command('export', '--json')).stdout) as {
        groups: readonly { id: string; display_name: string }[];
        users: readonly { user_name: string; groups: readonly string[]; organizations?: readonly object[] }[];
        organizations: readonly { name: string }[];
      };
      const titles = new Map(groups.map((group) => [group.id, group.display_name]));
      assert.equal(titles.get(staff), 'Staff');
      const inGroups = exported.find((user) => user.user_name === 'ada')!.groups.map((id) => titles.get(id));
      assert.deepEqual(inGroups.toSorted(), ['Staff / Engineering', 'auditor', 'role: staff']);
      const named = organizations.map(({ id: _id, ...organization }: { id?: string; name: string }) => organization);
      assert.deepEqual(
        named.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
        [
          { name: 'acme-ltd', display_name: 'Acme Ltd', metadata: { plan: ['gold'], description: 'First' }, domains: ['acme.example'] },
          { name: 'globex', enabled: false },
        ],
      );
      const belonging = (user: string): unknown => exported.find((one) => one.user_name === user)?.organizations;
      assert.deepEqual(belonging('ada'), [
        { organization: 'acme-ltd', roles: [] },
        { organization: 'globex', roles: [] },
      ]);
      assert.deepEqual(belonging('bob'), [{ organization: 'globex', roles: [] }]);
      const body = new URLSearchParams({ grant_type: 'client_credentials' });
      const authorization = `Basic ${Buffer.from(`robot:${secret}`).toString('base64')}`;
      await untilStatus(() => fetch(`${running.url}/v1/idp/oidc/token`, { method: 'POST', headers: { authorization }, body }), 200);
      const again = await running.json<Outcome>('import', path, '--from', 'keycloak');
      assert.deepEqual([again.created, again.updated], [0, 0]);
    });

    it('an Auth0 export: ids stay the same at every import; a blocked user is suspended; metadata is left', async () => {
      const path = file('users.ndjson', users.map((user) => JSON.stringify(user)).join('\n'));
      const done = await running.json<Outcome>('import', path, '--from', 'auth0');
      assert.equal(done.created, 2);
      assert.deepEqual(done.left.map(({ reason }) => reason.split(':')[0]).toSorted(), ['app_metadata', 'unverified emails']);
      const again = await running.json<Outcome>('import', path, '--from', 'auth0');
      assert.deepEqual([again.created, again.updated], [0, 0]);
      const listed = await running.json<Listed>('user', 'list');
      assert.equal(listed.find((user) => user.emails[0] === 'finn@example.com')?.state, 'suspended');
    });

    it('the organisations of an Auth0 tenant: members with their roles, a connection that is one customer’s, and an account of the rest', async () => {
      const providers = ['initech-entra', 'shared-saml'].map(
        (alias) =>
          `  - { alias: ${alias}, kind: oidc, name: "${alias}", issuer: "https://${alias}.example", client_id: us, client_secret: "${secret}" }\n`,
      );
      await running.json('import', file('providers.yaml', `gatehouse: 1\nidentity_providers:\n${providers.join('')}`));
      const people = file('people.ndjson', users.map((user) => JSON.stringify(user)).join('\n'));
      const theirs = file('organizations.ndjson', customers.map((one) => JSON.stringify(one)).join('\n'));
      const asked = ['import', people, '--from', 'auth0', '--organizations', theirs];
      const done = await running.json<Outcome>(...asked);
      const reasons = done.left.map(({ count, reason }) => `${count} ${reason}`).join('\n');
      for (const told of [
        /^1 organizations: /m,
        /^1 metadata of organizations: /m,
        /^1 logos of organizations: /m,
        /^1 page backgrounds of organizations: /m,
        /^1 colours of organizations: /m,
        /^1 connections of organizations: /m,
        /^2 company connections of organizations: /m,
        /^1 roles of members: /m,
        /^2 permissions of roles: /m,
        /^1 members of organizations: not among the users/m,
      ])
        assert.match(reasons, told);
      const again = await running.json<Outcome>(...asked);
      assert.deepEqual([again.created, again.updated], [0, 0]);
      const exported = JSON.parse((await running.command('export', '--json')).stdout) as Readonly<
        Record<string, readonly Readonly<Record<string, unknown>>[]>
      >;
      const initech = exported['organizations']!.find(({ name: one }) => one === 'initech-ltd');
      const { id: _id, ...rest } = initech!;
      assert.deepEqual(rest, {
        name: 'initech-ltd',
        display_name: 'Initech Ltd',
        metadata: { plan: 'gold' },
        join: ['invitation', 'provider'],
        domains: ['initech.example'],
        identity_providers: ['initech-entra'],
        branding: { accent: '#4a45d6' },
      });
      assert.deepEqual(
        exported['organization_roles']!.map(({ name: one, description }) => [one, description]),
        [
          ['billing-admin', 'Pays'],
          ['viewer', undefined],
        ],
      );
      const belonging = (id: string): unknown => exported['users']!.find(({ external_id: one }) => one === id)?.['organizations'];
      assert.deepEqual(belonging('auth0|1'), [
        { organization: 'initech-ltd', roles: ['billing-admin', 'viewer'] },
        { organization: 'umbrella', roles: [] },
      ]);
      assert.deepEqual(belonging('google-oauth2|2'), [{ organization: 'umbrella', roles: ['viewer'] }]);
      const none = file('none.ndjson', '[]');
      await running.fails(
        1,
        /organizations: expected one JSON object a line, .* \(line 1\)/,
        'import',
        people,
        '--from',
        'auth0',
        '--organizations',
        none,
      );
      await running.fails(2, /expected a file to read/, 'import', people, '--from', 'auth0', '--organizations', `${none}.not`);
    });

    it('another file, and another format, are refused with what was expected', async () => {
      await running.fails(
        1,
        /expected a Keycloak realm export with a member "realm", found none/,
        'import',
        file('x.json', '{}'),
        '--from',
        'keycloak',
      );
      await running.fails(
        1,
        /users: expected one JSON object a line, .* \(line 1\)/,
        'import',
        file('y.ndjson', 'email,name\n'),
        '--from',
        'auth0',
      );
      await running.fails(2, /Allowed choices are gatehouse, keycloak, auth0/, 'import', 'x', '--from', 'okta');
    });
  });
}
