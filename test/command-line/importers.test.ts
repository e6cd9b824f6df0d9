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
