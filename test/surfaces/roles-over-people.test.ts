// Nobody changes, enrols, recovers, invites or signs out a person who holds a capability they lack (design 13, 4): every route of the
// Management API that writes is either one of those below, tried here, or named as one that touches no person; and SCIM's.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import { capabilitiesOfTenant } from '../../src/domain/people/capabilities.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Endpoint } from '../../src/management/endpoint.ts';
import { managementEndpoints } from '../../src/management/endpoints.ts';
import { insertExternalIdentity } from '../../src/storage/sign-in/external-identities.ts';
import { databases } from '../support/databases.ts';
import { enrolledPhone } from '../support/enrolled-phone.ts';
import { createClient } from '../support/fixtures.ts';
import { issueTokens } from '../support/issued-tokens.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { givePasskey } from '../support/passkeys.ts';
import { createPhone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith, personWith } from '../support/roles.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const writing = managementEndpoints.filter(({ method }) => method !== 'GET');
const named = ({ method, path }: Endpoint): string => `${method} ${path}`;
const ofUser = ({ path }: Endpoint): boolean => path.startsWith('/users/:id');
/** Routes that act on a person without `/users/:id` in their path. */
const alsoOnPeople: ReadonlySet<string> = new Set([
  'DELETE /groups/:id',
  'POST /groups/:id/members',
  'DELETE /groups/:id/members/:user_id',
  'PATCH /organizations/:id',
  'DELETE /organizations/:id',
  'PUT /organizations/:id/members/:user_id',
  'DELETE /organizations/:id/members/:user_id',
  'POST /devices/:id/test-push',
  'DELETE /devices/:id',
  'DELETE /devices/:id/keys/:key_id',
]);
/** Resources none of whose routes changes, enrols, recovers, invites or signs out a person. */
const ofNoPerson: ReadonlySet<string> = new Set([
  ...[
    'clients',
    'initial-access-tokens',
    'scim-tokens',
    'resources',
    'workload-issuers',
    'organization-roles',
    'custom-attributes',
    'roles',
    'push',
    'service-providers',
    'identity-providers',
  ],
  ...[
    'signing-keys',
    'settings',
    'events',
    'tenants',
    'branding',
    'images',
    'texts',
    'mails',
    'mail-server',
    'domain',
    'hooks',
    'webhooks',
    'ssf-streams',
    'connectors',
    'directories', // those who came from them: surfaces/directories.test.ts
    'mappings',
  ],
]);
/** Routes beside those that make something new, or a group or organisation without anybody in it, look up what name servers say, or make links for whoever opens them. */
const ofNobodyYet: ReadonlySet<string> = new Set([
  'POST /users',
  'POST /groups',
  'PATCH /groups/:id',
  'POST /organizations',
  'POST /organizations/:id/check-domains',
  'POST /organizations/:id/scim-tokens',
  'DELETE /organizations/:id/scim-tokens/:token_id',
  // To an address, whoever has it: whoever joins was asked themselves.
  'POST /organizations/:id/invitations',
  'DELETE /organizations/:id/invitations/:invitation_id',
  'POST /organizations/:id/setup-links',
  'DELETE /organizations/:id/setup-links/:link_id',
]);

/** For whoever holds every capability alone (management-document.test.ts): nobody holds more. */
const ofOwners: ReadonlySet<string> = new Set(['POST /document']);

/** Each of many is judged and answered by itself: invite-many.test.ts. */
const ofEachByItself: ReadonlySet<string> = new Set(['POST /invitations']);

/** Bodies of the routes that ask for one. */
const bodies: Readonly<Record<string, Json>> = {
  'PATCH /users/:id': { title: 'Taken over' },
  'PUT /users/:id/roles': { roles: [] },
  'POST /users/:id/recoveries': { reason: 'Lost phone', mail: false },
  'POST /users/:id/invitations': { mail: false },
  'POST /users/:id/enrollments': {},
  'PATCH /organizations/:id': { enabled: false },
  'PUT /organizations/:id/members/:user_id': { roles: [] },
};

interface Target {
  readonly id: string;
  readonly params: Readonly<Record<string, string>>;
  readonly group: string;
  readonly organization: string;
  readonly device: string;
  readonly key: string;
}

for (const database of databases)
  describe(`acting on people who hold more on ${database}`, () => {
    let server: TestServer;
    let made: Managed;
    let tenant: Tenant;
    before(async () => {
      server = await startTestServer(database);
      made = await createTestTenant(server);
      tenant = (await server.gatehouse.services.tenants.bySlug(made.slug))!;
      await createTestUser(made, 'spare-owner@x.example', { admin_roles: ['owner'] });
    });
    after(() => server.close());
    let people = 0;

    /** A person with one of everything that routes name. */
    async function fill(roles: readonly string[]): Promise<Target> {
      people += 1;
      const { services } = server.gatehouse;
      const email = `target${people}@x.example`;
      const { id } = await createTestUser(made, email, { admin_roles: roles });
      const user = { id: id as UserId, email };
      const { grantId } = await issueTokens(services, tenant, await createClient(services, tenant), user.id);
      await enrolledPhone(server, { tenant: tenant.id, ...user }, createPhone(made.baseUrl, server.clock.nowMs));
      const passkey = await givePasskey(server, tenant, user);
      const { items: devices } = await made.make<{ items: readonly { id: string; keys: readonly { key_id: string }[] }[] }>(
        'GET',
        `/users/${id}/devices`,
      );
      const upstream = await made.make('POST', '/identity-providers', {
        alias: `p${people}`,
        kind: 'oidc',
        name: 'Acme',
        issuer: `https://p${people}.example`,
        client_id: 'x',
      });
      const identity = randomUUID();
      const link = { id: identity, providerId: upstream['id'], issuer: 'https://acme.example', subject: id, userId: id, email: undefined };
      await services.database.write(tenant.id, (queries) => insertExternalIdentity(queries, tenant.id, link as never)); // ids the server gave
      const invitation = await made.make('POST', `/users/${id}/invitations`, { mail: false });
      const recovery = await made.make('POST', `/users/${id}/recoveries`, { reason: 'Lost phone', mail: false });
      const group = await made.make('POST', '/groups', { display_name: `Group ${people}` });
      await made.make('POST', `/groups/${group['id']}/members`, { user_id: id });
      const organization = await made.make('POST', '/organizations', { name: `o${people}` });
      await made.make('PUT', `/organizations/${organization['id']}/members/${id}`, {});
      return {
        id,
        group: String(group['id']),
        organization: String(organization['id']),
        device: devices[0]!.id,
        key: devices[0]!.keys[0]!.key_id,
        params: {
          id,
          session_id: grantId,
          passkey_id: passkey.id,
          identity_id: identity,
          invitation_id: String(invitation['id']),
          recovery_id: String(recovery['id']),
        },
      };
    }

    function requestOf(route: Endpoint, target: Target): { readonly path: string; readonly body: Json | undefined } {
      const params: Readonly<Record<string, string>> = route.path.startsWith('/devices')
        ? { id: target.device, key_id: target.key }
        : route.path.startsWith('/groups')
          ? { id: target.group, user_id: target.id }
          : route.path.startsWith('/organizations')
            ? { id: target.organization, user_id: target.id }
            : target.params;
      const body = named(route) === 'POST /groups/:id/members' ? { user_id: target.id } : bodies[named(route)];
      return { path: route.path.replace(/:([a-z_]+)/g, (_, name: string) => params[name] ?? `no-${name}`), body };
    }

    const everything = async (target: Target): Promise<string> => {
      const of = async (path: string): Promise<unknown> => made.make('GET', path);
      const lists = ['roles', 'devices', 'passkeys', 'sessions', 'browser-sessions', 'external-identities', 'invitations', 'recoveries'];
      return JSON.stringify([
        await of(`/users/${target.id}`),
        await Promise.all(lists.map((list) => of(`/users/${target.id}/${list}`))),
        await of(`/groups/${target.group}/members`),
      ]);
    };

    it('every route that writes is known: it acts on people, or on none', () => {
      const unknown = writing.filter(
        (route) =>
          !ofUser(route) &&
          ![alsoOnPeople, ofNobodyYet, ofOwners, ofEachByItself].some((known) => known.has(named(route))) &&
          !ofNoPerson.has(route.path.split('/')[1]!),
      );
      assert.deepEqual(unknown.map(named), []);
      for (const name of alsoOnPeople)
        assert.ok(
          writing.some((route) => named(route) === name),
          name,
        );
    });

    it('management.forbidden: no route acts on an owner for a client or a person with that route’s capability alone; nothing changes; each acts on others', async () => {
      const owner = await fill(['owner']);
      const before = await everything(owner);
      const routes = writing.filter((route) => ofUser(route) || alsoOnPeople.has(named(route)));
      assert.ok(routes.length > 20, String(routes.length));
      const callers = new Map<string, readonly Managed[]>();
      for (const { capability } of routes) {
        if (callers.has(capability!)) continue;
        const name = `only-${capability!.replace(':', '-')}`;
        await made.make('POST', '/roles', { name, capabilities: [capability] });
        const holder = await createTestUser(made, `${name}@x.example`, { admin_roles: [name] });
        callers.set(capability!, [await machineWith(made, [capability!]), await personWith(server, made, holder.id, [capability!])]);
      }
      for (const route of routes)
        for (const caller of callers.get(route.capability!)!) {
          const { path, body } = requestOf(route, owner);
          const answer = await caller.call(route.method, path, body);
          const missing = capabilitiesOfTenant(tenant).find((capability) => capability !== route.capability);
          await assertRefusal(answer, 'management.forbidden', { text: `The token lacks the capability ${missing}.` });
          const explained = await made.make<{ items?: readonly Json[] }>('GET', `/events/${answer.headers.get('x-request-id')}`);
          assert.match(JSON.stringify(explained), /person_holds_more/, named(route));
        }
      assert.equal(await everything(owner), before);
      const order = routes.toSorted(
        (left, right) => Number(left.path === '/users/:id') - Number(right.path === '/users/:id') || right.path.length - left.path.length,
      );
      const [plain, device, group] = [await fill([]), await fill([]), await fill([])];
      for (const route of order) {
        const [caller] = callers.get(route.capability!)!;
        const target = route.path.startsWith('/devices') ? device : route.path.startsWith('/groups') ? group : plain;
        const { path, body } = requestOf(route, target);
        const answer = await caller!.call(route.method, path, body);
        assert.ok(answer.status !== 403, `${named(route)}: ${answer.status} ${await answer.text()}`);
      }
    });

    it('support acts on people and not on administrators; an admin acts on admins and not on owners; owners act on everybody', async () => {
      const [support, admin, owner] = await Promise.all(
        ['support', 'admin', 'owner'].map(async (role) => {
          const { id } = await createTestUser(made, `${role}-acts@x.example`, { admin_roles: [role] });
          return { id, as: await personWith(server, made, id, capabilitiesOfTenant(tenant)) };
        }),
      );
      const { id: plain } = await createTestUser(made, 'plain@x.example');
      const { id: auditor } = await createTestUser(made, 'auditor@x.example', { admin_roles: ['auditor'] });
      const statusOf = async (caller: typeof support, id: string): Promise<number> =>
        (await caller!.as.call('PATCH', `/users/${id}`, { title: 'x' })).status;
      const table = async (caller: typeof support): Promise<readonly number[]> =>
        Promise.all([plain, auditor, support!.id, admin!.id, owner!.id].map((id) => statusOf(caller, id)));
      assert.deepEqual(await table(support), [200, 403, 200, 403, 403]);
      assert.deepEqual(await table(admin), [200, 200, 200, 200, 403]);
      assert.deepEqual(await table(owner), [200, 200, 200, 200, 200]);
    });

    it('scim.forbidden: a directory does not change, suspend, delete or regroup who holds more; what changes nothing, and others, it may', async () => {
      const directory = await machineWith(made, ['scim:read', 'scim:write']);
      const call = (method: string, path: string, body?: unknown): Promise<Response> =>
        fetch(`${made.baseUrl}/scim/v2${path}`, {
          method,
          headers: { authorization: `Bearer ${directory.token}`, 'content-type': 'application/scim+json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
      const patch = (...Operations: readonly Json[]): Json => ({ schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations });
      const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
      const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
      const { id: owner } = await createTestUser(made, 'scim-owner@x.example', { admin_roles: ['owner'] });
      const { id: plain } = await createTestUser(made, 'scim-plain@x.example');
      const newGroup = async (name: string, members: readonly string[]): Promise<string> => {
        const made = await call('POST', '/Groups', {
          schemas: [groupSchema],
          displayName: name,
          members: members.map((value) => ({ value })),
        });
        assert.equal(made.status, 201);
        return String(((await made.json()) as Json)['id']);
      };
      const empty = await newGroup('Plain ones', [plain]);
      const whole = (await (await call('POST', '/Groups', { schemas: [groupSchema], displayName: 'Bosses' })).json()) as Json;
      await server.gatehouse.services.database.write(tenant.id, (queries) =>
        queries
          .insertInto('group_members')
          .values({ tenant_id: tenant.id, group_id: whole['id'], user_id: owner, created_at: 1 } as never)
          .execute(),
      );
      const bosses = `/Groups/${whole['id']}`;
      const user = {
        schemas: [userSchema],
        userName: 'scim-owner@x.example',
        emails: [{ value: 'scim-owner@x.example', primary: true }],
        title: 'x',
      };
      const member = (op: string, path = 'members'): Json =>
        patch(op === 'remove' ? { op, path: `members[value eq "${owner}"]` } : { op, path, value: [{ value: owner }] });
      const refusal = { text: 'The access token lacks clients:read.' };
      for (const [method, path, body] of [
        ['PATCH', `/Users/${owner}`, patch({ op: 'replace', path: 'active', value: false })],
        ['PATCH', `/Users/${owner}`, patch({ op: 'replace', path: 'emails', value: [{ value: 'mine@x.example', primary: true }] })],
        ['PUT', `/Users/${owner}`, user],
        ['DELETE', `/Users/${owner}`, undefined],
        ['POST', '/Groups', { schemas: [groupSchema], displayName: 'New', members: [{ value: owner }] }],
        ['PATCH', `/Groups/${empty}`, member('add')],
        ['PATCH', `/Groups/${empty}`, member('replace')],
        ['PUT', `/Groups/${empty}`, { schemas: [groupSchema], displayName: 'Plain ones', members: [{ value: plain }, { value: owner }] }],
        ['PATCH', bosses, member('remove')],
        ['PATCH', bosses, patch({ op: 'replace', path: 'members', value: [{ value: plain }] })],
        ['PUT', bosses, { schemas: [groupSchema], displayName: 'Bosses', members: [] }],
        ['DELETE', bosses, undefined],
      ] as const) {
        const answer = await call(method, path, body);
        await assertRefusal(answer, 'scim.forbidden', refusal);
        assert.match(answer.headers.get('www-authenticate')!, /error="insufficient_scope", scope="clients:read"/);
      }
      const bulk = {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
        Operations: [
          { method: 'DELETE', path: `/Users/${owner}` },
          { method: 'PATCH', path: `/Users/${plain}`, data: patch({ op: 'replace', path: 'title', value: 'y' }) },
        ],
      };
      const { Operations: done } = (await (await call('POST', '/Bulk', bulk)).json()) as { Operations: readonly Json[] };
      assert.deepEqual(
        done.map(({ status }) => status),
        ['403', '200'],
      );
      for (const [method, path, body] of [
        ['PATCH', `/Users/${owner}`, patch({ op: 'replace', path: 'active', value: true })],
        ['PATCH', bosses, member('add')],
        ['PUT', bosses, { schemas: [groupSchema], displayName: 'Bosses', members: [{ value: owner }, { value: plain }] }],
        ['PATCH', `/Users/${plain}`, patch({ op: 'replace', path: 'active', value: false })],
        ['DELETE', `/Groups/${empty}`, undefined],
        ['DELETE', `/Users/${plain}`, undefined],
      ] as const) {
        const answer = await call(method, path, body);
        assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${await answer.text()}`);
      }
      assert.equal((await made.make('GET', `/users/${owner}`))['state'], 'active');
    });
  });
