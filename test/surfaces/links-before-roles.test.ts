// Links that let somebody in are made over whoever holds no more than their maker (design 13, 4). Who gets a role afterwards is let in by
// none of them: whoever may invite people could keep one until its person administers.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Declared } from '../../src/administration/declaration/document.ts';
import { openSession, reconcile } from '../../src/administration/declaration/reconcile.ts';
import { databases } from '../support/databases.ts';
import { createUser, type TestUser } from '../support/fixtures.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { createPhone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith } from '../support/roles.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`links of before somebody had a role on ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let desk: Managed;
    let newPerson: () => Promise<TestUser>;
    before(async () => {
      server = await startTestServer(database);
      await server.gatehouse.services.jobs.stop(); // what they write is not of the requests in whose middle something happens
      managed = await createTestTenant(server);
      desk = await machineWith(managed, ['users:recover', 'invitations:write', 'devices:write']);
      const tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
      newPerson = () => createUser(server.gatehouse.services, tenant);
    });
    after(() => server.close());

    const give = ({ id }: TestUser, ...roles: readonly string[]) => managed.make('PUT', `/users/${id}/roles`, { roles });
    const welcome = async (url: unknown): Promise<Response> => {
      const [, query = '', token = ''] = /welcome(\?[^#]*)?#(.*)$/.exec(String(url)) ?? [];
      const headers = { accept: 'application/json' };
      return fetch(`${managed.baseUrl}/welcome${query}`, {
        method: 'POST',
        redirect: 'manual',
        headers,
        body: new URLSearchParams({ token }),
      });
    };
    const redeem = (token: unknown): Promise<Response> => {
      const phone = createPhone(managed.baseUrl, server.clock.nowMs);
      const device = { platform: 'ios', name: 'Phone', model: 'T1', os_version: '1', app_version: '2' };
      return phone.post('/enrollment/redeem', { enrollment_token: token, device, keys: phone.publicKeys() });
    };
    const ways = [
      ['an invitation', 'invitations', { mail: false }, 'invitation_url'],
      ['a recovery', 'recoveries', { mail: false, reason: 'Lost phone' }, 'recovery_url'],
    ] as const;
    for (const [name, path, body, member] of ways)
      it(`${name}: its link, and what it began`, async () => {
        const person = await newPerson();
        const url = (await desk.make('POST', `/users/${person.id}/${path}`, body))[member];
        await give(person, 'owner');
        await assertRefusal(await welcome(url), 'management.not_found');
        const after = (await managed.make('POST', `/users/${person.id}/${path}`, body))[member];
        await give(person, 'owner');
        const used = await welcome(after);
        assert.ok(used.ok || used.status === 303, `a link of since then: ${used.status}`);
        const begun = await newPerson();
        const first = await welcome((await desk.make('POST', `/users/${begun.id}/${path}`, body))[member]);
        const headers = { cookie: first.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '', accept: 'application/json' };
        const visit = (): Promise<Response> => fetch(`${managed.baseUrl}/welcome/status`, { headers });
        assert.equal((await visit()).status, 200);
        await give(begun, 'auditor');
        await assertRefusal(await visit(), 'management.not_found');
      });

    const growers = {
      'the Management API': (name: string, capabilities: readonly string[]) => managed.make('PATCH', `/roles/${name}`, { capabilities }),
      'a document': async (name: string, capabilities: readonly string[]) => {
        const { services } = server.gatehouse;
        const session = await openSession(services, (await services.tenants.bySlug(managed.slug))!, { actor: 'operator' });
        const declared: Declared = { section: 'roles', path: 'roles[0]', value: { name, capabilities }, lineOf: () => undefined };
        async function* items(): AsyncGenerator<Declared> {
          yield declared;
        }
        await reconcile(session, items(), { write: true, prune: false });
      },
    };
    for (const [index, [grower, grow]] of Object.entries(growers).entries())
      it(`a role that allows more by ${grower}: links over its holders end, not those over others, nor when it allows less`, async () => {
        const [name, other] = [`desk-${index}`, `other-${index}`];
        for (const role of [name, other])
          await managed.make('POST', '/roles', { name: role, capabilities: ['users:recover', 'invitations:write'] });
        const [holder, neighbour] = [await newPerson(), await newPerson()];
        await give(holder, name);
        await give(neighbour, other);
        const invite = async ({ id }: TestUser): Promise<unknown> =>
          (await desk.make('POST', `/users/${id}/invitations`, { mail: false }))['invitation_url'];
        const enroll = async ({ id }: TestUser): Promise<unknown> =>
          (await desk.make('POST', `/users/${id}/enrollments`, {}))['enrollment_token'];
        const lets = async (url: unknown): Promise<boolean> => [200, 303].includes((await welcome(url)).status);
        const shrunk = await invite(holder);
        await grow(name, ['invitations:write']);
        assert.equal(await lets(shrunk), true);
        const [link, token, neighbours] = [await invite(holder), await enroll(holder), await invite(neighbour)];
        await grow(name, ['invitations:write', 'settings:write']);
        await assertRefusal(await welcome(link), 'management.not_found');
        assert.equal((await redeem(token)).status, 401);
        assert.equal(await lets(neighbours), true);
      });

    const making = ({ id, email }: TestUser): readonly (readonly [string, object])[] => [
      [`/users/${id}/invitations`, { mail: false }],
      [`/users/${id}/recoveries`, { mail: false, reason: 'Lost phone' }],
      [`/users/${id}/enrollments`, {}],
      ['/invitations', { people: [{ emails: [{ value: email }] }], invite: 'link' }],
    ];
    const allowing = (...capabilities: readonly string[]) => managed.make('PATCH', '/roles/grown', { capabilities });
    const between = [
      ['who gets a role', (person: TestUser) => give(person, 'grown', 'auditor'), 'clients:read'],
      ['whose role allows more', () => allowing('invitations:write', 'settings:write'), 'settings:write'],
    ] as const;
    for (const [who, change, lacking] of between)
      it(`somebody ${who} between the question whether one may and the link: there is none`, async () => {
        const { database: engine } = server.gatehouse.services;
        const { write } = engine;
        await managed.call('POST', '/roles', { name: 'grown', capabilities: [] });
        const inviter = await machineWith(managed, ['users:recover', 'users:read', 'users:write', 'invitations:write', 'devices:write']);
        for (const at of making(await newPerson()).keys()) {
          await allowing('invitations:write');
          const person = await newPerson();
          await give(person, 'grown');
          const [path, body] = making(person)[at]!;
          Object.assign(engine, {
            write: async (...args: Parameters<typeof write>) => {
              Object.assign(engine, { write });
              await change(person);
              return write(...args);
            },
          });
          const answer = await inviter.call('POST', path, body);
          Object.assign(engine, { write });
          if (path !== '/invitations')
            await assertRefusal(answer, 'management.forbidden', { text: `The token lacks the capability ${lacking}.` });
          else {
            const [told] = (await jsonOf<{ readonly items: readonly Json[] }>(answer, 200)).items;
            assert.deepEqual([told?.['state'], told?.['invitation_url']], ['refused', null]);
          }
        }
      });

    it('an enrolment: its link, and what a phone began by it', async () => {
      const person = await newPerson();
      const link = async (of: Managed): Promise<unknown> =>
        (await of.make('POST', `/users/${person.id}/enrollments`, {}))['enrollment_token'];
      const early = await link(desk);
      await give(person, 'owner');
      assert.equal((await redeem(early)).status, 401);
      assert.equal((await redeem(await link(managed))).status, 200);
    });
  });
