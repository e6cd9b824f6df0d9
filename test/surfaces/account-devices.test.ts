// Devices on the account page: the list, a name, a removal, a new device, and what of other people’s devices is to be seen: nothing.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseEnrollmentLink } from '../../sdk/device.ts';
import { accountListRows, deviceNameCharsMax } from '../../src/contract/limits.ts';
import { createAccountTenant, openAccount, phoneOf, textOf, withoutRequest } from '../support/account.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, type Redeemed, type TestUser, testDevice } from '../support/enrolled-phone.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { jsonOf, type Managed } from '../support/management.ts';
import { createPhone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertEscaped, xssCorpus } from '../support/xss.ts';

const unknownId = '0b8c6d54-3e2f-4a19-8b7d-6c5e4f3a2b10';

for (const database of databases) {
  describe(`account devices on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    let person: TestUser;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createAccountTenant(server, { device: { additional_device: 'email_pin' } });
      ({ visitor, person } = await openAccount(server, tenant));
    });
    after(() => server.close());

    /** The page a 303 of a form leads to. */
    const follow = async (response: Response): Promise<string> => {
      assert.equal(response.status, 303);
      const location = new URL(response.headers.get('location') ?? '', tenant.baseUrl);
      return textOf(await visitor.page(location.pathname.split('/account')[1]! + location.search), 200);
    };
    const nameOf = async (id: string): Promise<unknown> => (await tenant.make('GET', `/devices/${id}`))['name'];

    it('listed with what it is and when it was last seen; renamed within the limit, the typed name kept beyond it', async () => {
      const phone = await phoneOf(server, tenant, person);
      const list = await textOf(await visitor.page('/devices'), 200);
      assert.match(list, /<h2>Test phone<\/h2><p class="muted">iOS · T1 · 1<\/p>/);
      assert.match(list, /Last seen<\/dt><dd><time datetime="/);
      assert.match(list, /Key<\/dt><dd>Kept by the app</);
      const longest = 'ß'.repeat(deviceNameCharsMax);
      assert.match(await follow(await visitor.submit(`/devices/${phone.deviceId}`, { name: ` ${longest} ` })), /The name was changed/);
      assert.equal(await nameOf(phone.deviceId), longest);
      for (const name of [`${longest}x`, '', '   ']) {
        const refused = await textOf(await visitor.submit(`/devices/${phone.deviceId}`, { name }), 400);
        assert.match(refused, /role="alert"[^>]*>Enter a name of at most 100 characters/);
        assert.ok(refused.includes(`<details open>`) && refused.includes(`name="name" value="${name}"`), refused);
        assert.equal(await nameOf(phone.deviceId), longest);
      }
    });

    it('seen: a request of the phone moves the time once it is old', async () => {
      const phone = await phoneOf(server, tenant, person);
      const { database: store } = server.gatehouse.services;
      const seen = async (): Promise<number> =>
        (
          await store.read(person.tenant, (queries) =>
            queries
              .selectFrom('devices')
              .select('last_seen_at')
              .where('tenant_id', '=', person.tenant)
              .where('id', '=', phone.deviceId as never) // its id
              .executeTakeFirstOrThrow(),
          )
        ).last_seen_at ?? 0;
      const enrolledAt = await seen();
      assert.equal((await phone.get('/self')).status, 200);
      assert.equal(await seen(), enrolledAt);
      await store.write(person.tenant, (queries) =>
        queries.updateTable('devices').set({ last_seen_at: 1 }).where('tenant_id', '=', person.tenant).execute(),
      );
      assert.equal((await phone.get('/self')).status, 200);
      assert.ok((await seen()) >= enrolledAt);
    });

    it('removed after a question; the phone is refused from then on, and a second removal finds nothing', async () => {
      const phone = await phoneOf(server, tenant, person);
      const path = `/devices/${phone.deviceId}/remove`;
      assert.match(await textOf(await visitor.page(path), 200), /<h1>Remove “Test phone”\?<\/h1>/);
      assert.equal((await phone.get('/self')).status, 200);
      const list = await follow(await visitor.submit(path, {}));
      assert.match(list, /Removed\. It no longer signs you in/);
      assert.ok(!list.includes(phone.deviceId));
      await assertRefusal(await phone.get('/self'), 'device.key_revoked');
      assert.equal((await visitor.submit(path, {})).status, 404);
      assert.match(await textOf(await visitor.page('/activity'), 200), /A phone was removed\./);
    });

    it('a device of another person or tenant is as unknown as one that never was, and stays as it is', async () => {
      const { person: neighbour } = await openAccount(server, tenant);
      const other = await createAccountTenant(server);
      const { person: stranger } = await openAccount(server, other);
      const foreign = [(await phoneOf(server, tenant, neighbour)).deviceId, (await phoneOf(server, other, stranger)).deviceId];
      const answers = new Set<string>();
      for (const id of [unknownId, ...foreign, foreign[0]!.toUpperCase(), 'x'])
        for (const ask of [
          () => visitor.page(`/devices/${id}/remove`),
          () => visitor.submit(`/devices/${id}/remove`, {}),
          () => visitor.submit(`/devices/${id}`, { name: 'taken' }),
          () => visitor.submit(`/devices/${id}`, { name: '' }),
        ])
          answers.add(withoutRequest(await textOf(await ask(), 404)));
      assert.equal(answers.size, 1, [...answers].join('\n'));
      assert.equal(await nameOf(foreign[0]!), 'Test phone');
      assert.equal((await other.make('GET', `/devices/${foreign[1]}`))['state'], 'active');
      const list = await textOf(await visitor.page('/devices'), 200);
      for (const id of foreign) assert.ok(!list.includes(id));
    });

    it('a new one: a QR code on a page of its own, whose token enrols a phone of this person after the PIN of the mail', async () => {
      const made = await visitor.submit('/devices/add', {});
      const text = await follow(made);
      assert.match(text, /<svg class="qr" viewBox="0 0 \d+ \d+" role="img" aria-label="QR code of the enrolment link"/);
      assert.doesNotMatch(text, /<img|src=|@import/);
      const link = /id="enroll" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&#38;', '&') ?? '';
      const enrollment = parseEnrollmentLink(link);
      assert.equal(enrollment?.baseUrl, tenant.baseUrl);
      const phone = createPhone(tenant.baseUrl, server.clock.nowMs);
      const response = await phone.post('/enrollment/redeem', {
        enrollment_token: enrollment.token,
        device: testDevice,
        keys: phone.publicKeys(),
      });
      const redeemed = await jsonOf<Redeemed>(response, 202);
      assert.equal(redeemed.status, 'unverified');
      const { visitor: neighbour } = await openAccount(server, tenant);
      const address = new URL(made.headers.get('location') ?? '', tenant.baseUrl);
      assert.equal((await neighbour.page(address.pathname.split('/account')[1]! + address.search)).status, 404);
      assert.equal((await visitor.page('/devices/add?enrollment=x')).status, 404);
      assert.equal((await visitor.page('/devices/add')).status, 404);
    });

    it('where administrators add devices, nobody else makes a token', async () => {
      const strict = await createAccountTenant(server);
      const { visitor: guest, person: who } = await openAccount(server, strict);
      assert.match(await textOf(await guest.page('/devices'), 200), /id="add"/);
      await changeSettings(server, { login_methods: ['email_pin'], device: { additional_device: 'admin' } }, who.tenant);
      const page = await textOf(await guest.page('/devices'), 200);
      assert.match(page, /id="add-by-administrator">Your administrator adds phones here/);
      assert.doesNotMatch(page, /id="add"/);
      assert.equal((await guest.submit('/devices/add', {})).status, 403);
      const tokens = await server.gatehouse.services.database.read(who.tenant, (queries) =>
        queries.selectFrom('enrollment_tokens').select('id').where('tenant_id', '=', who.tenant).execute(),
      );
      assert.deepEqual(tokens, []);
    });

    it('many devices come by pages, and markup in their names stays text', async () => {
      const { visitor: owner, person: who } = await openAccount(server, tenant);
      const phone = await phoneOf(server, tenant, who);
      for (const text of xssCorpus) {
        assert.equal((await owner.submit(`/devices/${phone.deviceId}`, { name: text })).status, 303);
        assertEscaped(await textOf(await owner.page('/devices'), 200), text);
        assertEscaped(await textOf(await owner.page(`/devices/${phone.deviceId}/remove`), 200), text);
        assertEscaped(await textOf(await owner.submit(`/devices/${phone.deviceId}`, { name: `${text}${'x'.repeat(101)}` }), 400), text);
      }
      const { database: store } = server.gatehouse.services;
      await store.write(who.tenant, async (queries) => {
        const row = await queries
          .selectFrom('devices')
          .selectAll()
          .where('tenant_id', '=', who.tenant)
          .where('user_id', '=', who.id)
          .executeTakeFirstOrThrow();
        const id = (number: number): string => `00000000-0000-4000-8000-0000000001${String(number).padStart(2, '0')}`;
        const rows = Array.from({ length: accountListRows }, (_none, number) => ({
          ...row,
          id: id(number) as never,
          name: `Phone ${number}`,
        }));
        await queries.insertInto('devices').values(rows).execute();
      });
      const first = await textOf(await owner.page('/devices'), 200);
      assert.equal(first.match(/class="button danger"/g)?.length, accountListRows);
      assert.ok(Buffer.byteLength(first) < 60_000, `${Buffer.byteLength(first)} bytes`);
      assert.match(first, /id="next" href="[^"]+\/account\/devices\?page=1"/);
      const second = await textOf(await owner.page('/devices?page=1'), 200);
      assert.equal(second.match(/class="button danger"/g)?.length, 1);
      assert.doesNotMatch(second, /id="next"/);
    });
  });
}
