// Tries to sign in as administrators find them (design 23, 1): the true reason of each, by person, typed name, application, address, id and
// time. Outside all of them look the same, and only whoever reads events sees more.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signInTriesPerAddressMax } from '../../src/contract/limits.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createClient, type TestClient } from '../support/fixtures.ts';
import { beginLogin, signInByPin, type TestLogin } from '../support/login.ts';
import { clientCredentialsToken, createTestTenant, createTestUser, type Json, type Managed, managedWith } from '../support/management.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type SmtpServer, startSmtpServer } from '../support/smtp-server.ts';

interface Line {
  readonly type: string;
  readonly check: string | null;
  readonly detail: string | null;
  readonly says: string;
  readonly request_id: string | null;
}

interface Try extends Omit<Line, 'detail'> {
  readonly id: string;
  readonly user: string | null;
  readonly typed: string | null;
  readonly application: string;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly advice: string | null;
  readonly started_at: string;
  readonly lines: readonly Line[];
}

interface Tries {
  readonly items: readonly Try[];
  readonly next_cursor?: string;
  readonly names?: Readonly<Record<string, string>>;
}

for (const database of databases)
  describe(`tries to sign in on ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    let client: TestClient;
    let grace: string;
    before(async () => {
      server = await startTestServer(database);
      managed = await createTestTenant(server, { settings: { login_methods: ['email_pin'] } });
      tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
      client = await createClient(server.gatehouse.services, tenant, { name: 'Payroll' });
      grace = (await createTestUser(managed, 'grace@x.example')).id;
    });
    after(() => server.close());

    const list = (query: string, by = managed): Promise<Tries> => by.make<Tries>('GET', `/sign-ins?${query}`);
    const only = async (query: string): Promise<Try> => {
      const { items } = await list(query);
      assert.equal(items.length, 1, JSON.stringify(items.map(({ says }) => says)));
      return items[0]!;
    };
    const stepsOf = ({ lines }: Try): readonly unknown[] => lines.map(({ type, check }) => [type, check]);
    const begin = (): Promise<TestLogin> => beginLogin(server, tenant, client);
    /** Says who they are and types a code; gives all answers without what differs by time. */
    const tryAs = async (name: string, code = '000000'): Promise<readonly Json[]> => {
      const login = await begin();
      const answers: Json[] = [];
      for (const [step, fields] of [
        ['identify', { identifier: name }],
        ['pin', { pin: code }],
      ] as const) {
        const answer = await login.post(step, fields);
        answers.push({ status: answer.status, ...((await answer.json()) as Json) });
      }
      return answers;
    };

    it('tells suspended, unknown and wrong apart inside, and alike outside', async () => {
      const suspended = (await createTestUser(managed, 'sam@x.example')).id;
      await managed.make('POST', `/users/${suspended}/suspend`);
      const answers = [await tryAs('sam@x.example'), await tryAs('Nobody@x.example'), await tryAs('grace@x.example')];
      assert.deepEqual(answers[0], answers[2]);
      assert.deepEqual(answers[1], answers[2]);
      const ofSuspended = await only(`user=${suspended}`);
      assert.deepEqual(stepsOf(ofSuspended), [
        ['login.started', 'user_suspended'],
        ['code.sent', 'user_suspended'],
        ['code.wrong', 'user_suspended'],
      ]);
      assert.equal(ofSuspended.says, 'A code was not accepted: This person is suspended.');
      assert.match(ofSuspended.advice!, /Activate/);
      assert.deepEqual(
        [ofSuspended.typed, ofSuspended.application, ofSuspended.ip, ofSuspended.user_agent],
        [null, `client:${client.clientId}`, '127.0.0.1', 'test'],
      );
      const ofNobody = await only('name=nobody%40X.example');
      assert.deepEqual([ofNobody.user, ofNobody.typed, ofNobody.check], [null, 'Nobody@x.example', 'unknown_person']);
      assert.equal(ofNobody.lines[1]!.says, 'A code was asked for, and none was mailed: No person has this name or email.');
      const ofGrace = await only(`user=${grace}`);
      assert.deepEqual(stepsOf(ofGrace), [
        ['login.started', null],
        ['code.sent', null],
        ['code.wrong', 'code_wrong'],
      ]);
    });

    it('finds by a part of what was typed, by name, application, address, id and time, and says the names one may read', async () => {
      const ada = (await createTestUser(managed, 'ada@x.example')).id;
      await signInByPin(server, await begin(), 'ada@x.example');
      const finished = await only('name=ADA%40x.example&names=shown');
      assert.deepEqual([finished.user, finished.type, finished.check, finished.advice], [ada, 'login.finished', null, null]);
      assert.equal(finished.says, 'Signed in.');
      assert.deepEqual(stepsOf(finished), [
        ['login.started', null],
        ['code.sent', null],
        ['login.finished', null],
      ]);
      const { names } = await list(`user=${ada}&names=shown`);
      assert.deepEqual(Object.keys(names!).toSorted(), [`client:${client.clientId}`, `user:${ada}`].toSorted());
      const login = await begin();
      const asked = await login.post('identify', { identifier: '100%_odd\\name' });
      assert.equal((await only('name=00%25_ODD%5C')).typed, '100%_odd\\name');
      const requestId = asked.headers.get('x-request-id')!;
      const transaction = login.location.split('/').at(-1)!;
      for (const query of [`id=${requestId}`, `id=${transaction}`]) assert.equal((await only(query)).typed, '100%_odd\\name');
      const all = await list('limit=100');
      for (const query of [`application=client:${client.clientId}`, 'ip=127.0.0.1', 'from=2000-01-01'])
        assert.deepEqual((await list(`${query}&limit=100`)).items, all.items, query);
      for (const query of ['application=client:other', 'ip=192.0.2.1', 'to=2000-01-01', 'name=never', 'id=never'])
        assert.deepEqual((await list(query)).items, [], query);
      const paged: Try[] = [];
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const page: Tries = await list(`limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
        paged.push(...page.items);
        cursor = page.next_cursor;
      }
      assert.deepEqual(paged, all.items);
    });

    it('explain knows requests that nothing else is recorded of', async () => {
      const login = await begin();
      const asked = await login.post('identify', { identifier: 'explained@x.example' });
      const { sign_in: explained } = await managed.make<{ sign_in: Try }>('GET', `/events/${asked.headers.get('x-request-id')}`);
      assert.deepEqual([explained.typed, explained.check], ['explained@x.example', 'unknown_person']);
    });

    it('says that the application does not let the person in, and that another person named is another try', async () => {
      const closed = await createClient(server.gatehouse.services, tenant, { name: 'Closed', accessPolicy: 'assigned' });
      const una = (await createTestUser(managed, 'una@x.example')).id;
      const login = await beginLogin(server, tenant, closed);
      await login.post('identify', { identifier: 'typo@x.example' });
      await signInByPin(server, login, 'una@x.example');
      const refused = await only(`user=${una}`);
      assert.deepEqual(
        [refused.type, refused.check, refused.says],
        ['login.refused', 'not_assigned', 'Not let in: The application lets in only people who are assigned to it, and this person isn’t.'],
      );
      assert.equal((await only('name=typo')).check, 'unknown_person');
    });

    it('is for whoever reads events of this tenant; whose name it is for whoever reads people', async () => {
      const other = await createTestTenant(server);
      assert.deepEqual((await list('name=grace%40x.example', other)).items, []);
      assert.deepEqual((await list(`user=${grace}`, other)).items, []);
      const tokenWith = async (scope: string) =>
        managedWith(await clientCredentialsToken(managed.baseUrl, managed.adminClientId, managed.adminClientSecret, scope), managed);
      assert.equal((await (await tokenWith('users:read')).call('GET', '/sign-ins')).status, 403);
      const auditor = await tokenWith('events:read');
      assert.deepEqual((await list('name=grace%40x.example', auditor)).items, []);
      assert.ok((await list(`user=${grace}`, auditor)).items.length > 0);
      assert.equal((await list('name=grace%40x.example&names=shown', await tokenWith('events:read users:read'))).items.length > 0, true);
    });

    it('keeps its bounds when many come at once, and refuses nobody for it', async () => {
      await managed.make('PATCH', '/settings', { rate_limits: { login_starts_per_ip: roomyRate }, login_methods: ['phone', 'email_pin'] });
      const own = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
      const { id } = await createTestUser(managed, 'busy@x.example');
      const identify = async (name: string): Promise<number> =>
        (await (await beginLogin(server, own, client)).post('identify', { identifier: name })).status;
      const names = Array.from({ length: 2 * (signInTriesPerAddressMax + 10) }, (_none, index) =>
        index % 2 === 0 ? 'busy@x.example' : 'Busy Nobody',
      );
      const statuses = await Promise.all(names.map(identify));
      assert.deepEqual(new Set(statuses), new Set([200]));
      for (const query of [`user=${id}`, 'name=busy%20nobody'])
        assert.equal((await list(`${query}&limit=200`)).items.length, signInTriesPerAddressMax, query);
      const [one] = [await beginLogin(server, own, client)];
      const together = await Promise.all(Array.from({ length: 8 }, () => one.post('identify', { identifier: 'busy@x.example' })));
      assert.ok(
        together.every(({ status }) => status === 200 || status === 409),
        String(together.map(({ status }) => status)),
      );
      await managed.make('PATCH', '/settings', { login_methods: ['email_pin'] });
    });

    it('keeps names that nobody has for a day and out of the feed, and nothing of a person who is deleted', async () => {
      const gone = (await createTestUser(managed, 'gone@x.example')).id;
      await tryAs('gone@x.example');
      assert.equal((await list(`user=${gone}`)).items.length, 1);
      await managed.make('DELETE', `/users/${gone}`);
      assert.deepEqual((await list(`user=${gone}`)).items, []);
      await tryAs('Secret-Password-1');
      assert.equal((await list('name=secret-password-1')).items.length, 1);
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/events/feed?limit=200');
      assert.ok(items.length > 0 && !JSON.stringify(items).toLowerCase().includes('secret-password-1'));
      await server.clock.advance(24 * 3600 * 1000 + 1);
      assert.deepEqual((await list('name=secret-password-1')).items, []);
      assert.ok((await list(`user=${grace}`)).items.length > 0);
    });
  });

for (const database of databases)
  describe(`codes that are not delivered on ${database}`, () => {
    let smtp: SmtpServer;
    let server: TestServer;
    before(async () => {
      smtp = await startSmtpServer();
      server = await startTestServer(database, { flags: { smtp_url: smtp.url, mail_from: 'login@acme.example' } });
    });
    after(async () => {
      await server?.close();
      await smtp?.close();
    });

    it('are told with what the mail server said, and that one arrived after all', async () => {
      const managed = await createTestTenant(server, { settings: { login_methods: ['email_pin'] } });
      const tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
      const client = await createClient(server.gatehouse.services, tenant);
      const user = (await createTestUser(managed, 'late@x.example')).id;
      smtp.refuseNext(1);
      const login = await beginLogin(server, tenant, client);
      assert.equal((await login.post('identify', { identifier: 'late@x.example' })).status, 200);
      const find = async (): Promise<Try> => (await managed.make<Tries>('GET', `/sign-ins?user=${user}`)).items[0]!;
      await eventually(async () => (await find()).type === 'mail.failed');
      const failed = await find();
      assert.deepEqual([failed.check, failed.lines.at(-1)!.detail], ['mail_not_delivered', 'deferred']);
      assert.equal(failed.says, 'The mail was not delivered: the mail server put it off.');
      await server.clock.advance(60_000);
      await eventually(async () => (await find()).type === 'code.sent');
      assert.equal((await find()).check, null);
    });
  });
