// The ways to more power that were once found by hand (issue 27), each as somebody who holds what it took and nothing else: what is
// refused now, and what they would have had. Beside each stands, in the tests of its rule, the way that stays open.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Capability } from '../../src/domain/people/capabilities.ts';
import { rootTenantSlug } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { callSystem, type Json, type Managed } from '../support/management.ts';
import { attacker } from '../support/power-table.ts';
import { makePowerWorld, type PowerWorld } from '../support/power-world.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith } from '../support/roles.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

type Call = readonly [method: string, path: string, body?: unknown];

interface WayIn {
  readonly name: string;
  readonly holds: readonly Capability[];
  readonly calls: (world: PowerWorld) => readonly Call[];
  /** What is lacking; otherwise the field that is refused. */
  readonly lacks?: Capability;
  readonly field?: string;
}

const idOf = ({ targets }: PowerWorld, path: string, at = 0): string => `${path.slice(0, -1)}/${targets[path]![at]}`;
const mailServer = { host: 'evil.example', port: 587, security: 'starttls', from: 'a@evil.example' };

const ways: readonly WayIn[] = [
  {
    name: 'hole 1a: settings that make mailed codes easy to guess',
    holds: ['settings:read', 'settings:write'],
    lacks: 'sign-in:write',
    calls: () => [
      ['PATCH', '/settings', { login_methods: ['email_pin'] }],
      ['PATCH', '/settings', { pin: { attempts_max: 10 } }],
      ['PATCH', '/settings', { rate_limits: { pin_attempts_per_ip: { limit: 1_000_000 } } }],
      ['PATCH', '/settings', { device: { additional_device: 'email_pin' } }],
    ],
  },
  {
    name: 'hole 1a: codes outside of the bounds of every tenant, by whoever may set them',
    holds: ['sign-in:write'],
    field: 'pin.length',
    calls: () => [['PATCH', '/settings', { pin: { length: 4 } }]],
  },
  {
    name: 'hole 1b: a provider an owner without a key comes in by, made somebody else or worth more',
    holds: ['sign-in:read', 'sign-in:write'],
    lacks: 'clients:read',
    calls: (world) => [
      ['PATCH', idOf(world, '/identity-providers/', 1), { acr_map: { strong: 'phr' } }],
      ['PATCH', idOf(world, '/identity-providers/', 1), { issuer: attacker, client_secret: 'mine' }],
      ['DELETE', idOf(world, '/identity-providers/', 1)],
    ],
  },
  {
    name: 'hole 1c: a second phone for the owner',
    holds: ['devices:read', 'devices:write'],
    lacks: 'clients:read',
    calls: ({ people }) => [
      ['POST', `/users/${people.keyed.id}/enrollments`],
      ['POST', `/users/${people.keyless!.id}/enrollments`],
    ],
  },
  {
    name: 'hole 2: a mail server of one’s own, for the codes of owners',
    holds: ['mail:read', 'mail:write'],
    lacks: 'sign-in:write',
    calls: () => [['PUT', '/mail-server', mailServer]],
  },
  {
    name: 'hole 2: the same by whoever may write it, while an owner has a mailbox alone',
    holds: ['mail:write', 'sign-in:write', 'settings:write'],
    lacks: 'clients:read',
    calls: () => [
      ['PUT', '/mail-server', mailServer],
      ['PATCH', '/settings', { smtp: { server: mailServer } }],
    ],
  },
  {
    name: 'hole 4: a provider’s secret sent to another address, or under another name',
    holds: ['sign-in:write'],
    field: 'client_secret',
    calls: (world) => [
      ['PATCH', idOf(world, '/identity-providers/'), { issuer: attacker }],
      ['PATCH', idOf(world, '/identity-providers/'), { client_id: 'mine' }],
    ],
  },
  {
    name: 'hole 5: people by a connector or a hook, events by a webhook, of who may not read them',
    holds: ['connectors:write', 'webhooks:write', 'sign-in:write'],
    lacks: 'users:read',
    calls: (world) => [
      ['POST', '/connectors', { name: 'Mine', base_url: `${attacker}/scim`, auth: { type: 'bearer', token: 'mine' } }],
      ['PATCH', idOf(world, '/connectors/'), { enabled: true }],
      ['POST', '/hooks', { point: 'token', url: `${attacker}/hook`, on_failure: 'continue' }],
      ['POST', `${idOf(world, '/hooks/')}/secret`],
    ],
  },
  {
    name: 'hole 5: events by a webhook',
    holds: ['webhooks:write', 'users:read'],
    lacks: 'events:read',
    calls: (world) => [
      ['POST', '/webhooks', { url: `${attacker}/webhook` }],
      ['PATCH', idOf(world, '/webhooks/'), { url: `${attacker}/webhook` }],
      ['POST', `${idOf(world, '/webhooks/')}/secret`],
    ],
  },
  {
    name: 'hole 13: the mail server and providers by settings alone',
    holds: ['settings:write'],
    lacks: 'sign-in:write',
    calls: (world) => [
      ['PATCH', '/settings', { smtp: { server: null } }],
      ['PUT', '/mappings/inbound', { rules: [] }],
      ['PATCH', idOf(world, '/identity-providers/'), { name: 'Mine' }],
    ],
  },
  {
    name: 'a client that is stronger than whoever makes it or takes its secret',
    holds: ['clients:read', 'clients:write'],
    lacks: 'resources:read',
    calls: (world) => [
      ['POST', '/clients', { name: 'Mine', grant_types: ['client_credentials'], scopes: ['resources:read'] }],
      ['POST', `${idOf(world, '/clients/', 2)}/secret`],
      ['PATCH', idOf(world, '/clients/', 2), { token_endpoint_auth_method: 'client_secret_post' }],
    ],
  },
  {
    name: 'links and addresses of owners',
    holds: ['users:read', 'users:write', 'users:recover', 'invitations:write'],
    lacks: 'clients:read',
    calls: ({ people }) =>
      [people.keyed, people.keyless!].flatMap(({ id }): readonly Call[] => [
        ['POST', `/users/${id}/invitations`, { mail: false }],
        ['POST', `/users/${id}/recoveries`, { reason: 'Lost', mail: false }],
        ['PATCH', `/users/${id}`, { emails: [{ value: 'a@evil.example', primary: true }] }],
      ]),
  },
];

for (const database of databases)
  describe(`ways to more power found by hand on ${database}`, () => {
    let server: TestServer;
    let world: PowerWorld;
    before(async () => {
      server = await startTestServer(database);
      world = await makePowerWorld(server, true);
    });
    after(() => server.close());

    for (const { name, holds, calls, lacks, field } of ways)
      it(name, async () => {
        const actor = await machineWith(world.tenant, holds);
        for (const [method, path, body] of calls(world)) {
          const answer = await actor.call(method, path, body);
          if (lacks !== undefined)
            await assertRefusal(answer, 'management.forbidden', { text: `The token lacks the capability ${lacks}.` });
          else await assertRefusal(answer, 'management.invalid_request', { kind: field!, text: /./ });
        }
      });

    it('hole 6: our own clients, by whoever holds everything', async () => {
      for (const id of ['gatehouse-account', 'gatehouse-console'])
        for (const [method, below, body] of [
          ['PATCH', '', { require_par: true }],
          ['DELETE', ''],
          ['POST', '/assignments', { user_id: world.people.plain.id }],
        ] as const)
          assert.ok([403, 404].includes((await world.tenant.call(method, `/clients/${id}${below}`, body)).status), `${method} ${id}`);
    });

    it('hole 2: tests of mails go to nobody outside, with words of one’s own', async () => {
      const actor: Managed = await machineWith(world.tenant, ['mail:read', 'mail:write']);
      const answer = await actor.call('POST', '/mails/pin/en/test', { to: 'a@evil.example' });
      assert.ok(answer.status === 400 || answer.status === 403, await answer.text());
    });

    it('hole 3: the root tenant gets no host without a DNS record and stays enabled, by the operator too', async () => {
      const root = await server.gatehouse.services.tenants.bySlug(rootTenantSlug);
      for (const body of [{ domain: attacker }, { enabled: false }] satisfies readonly Json[])
        assert.equal((await callSystem(server, 'PATCH', `/tenants/${root!.id}`, body)).status, 409);
    });
  });
