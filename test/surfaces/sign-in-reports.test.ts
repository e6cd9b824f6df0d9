// A person who says that sign-ins are not theirs, and one who is asked too often under several names: what is recorded, mailed and
// hidden, and that whoever asks learns nothing.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, enrolledPhone } from '../support/enrolled-phone.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { beginLogin, type TestLogin } from '../support/login.ts';
import { mailsTo } from '../support/mailbox.ts';
import type { Phone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const off = {
  login_starts_per_ip: roomyRate,
  pin_attempts_per_ip: roomyRate,
  approvals_per_user: roomyRate,
  approvals_pending_per_user: roomyRate,
};
const methods = { login_methods: ['phone', 'email_pin'] };

interface Item {
  readonly id: string;
}

for (const database of databases)
  describe(`reports and caps of sign-ins on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    let phone: Phone;
    before(async () => {
      server = await startTestServer(database);
      tenant = await rootTenant(server.gatehouse.services);
      client = await createClient(server.gatehouse.services, tenant);
    });
    after(() => server.close());
    beforeEach(async () => {
      await changeSettings(server, { ...methods, rate_limits: off });
      user = await createUser(server.gatehouse.services, tenant);
      phone = await enrolledPhone(server, { ...user, tenant: tenant.id });
    });

    /** A second name of the person. */
    const nameThem = async (userName: string): Promise<void> => {
      await server.gatehouse.services.database.write(tenant.id, (queries) =>
        queries
          .updateTable('users')
          .set({ user_name: userName, user_name_key: userName })
          .where('tenant_id', '=', tenant.id)
          .where('id', '=', user.id)
          .execute(),
      );
    };
    const begin = async (identifier: string, method: 'phone' | 'email_pin'): Promise<{ login: TestLogin; answer: Response }> => {
      const login = await beginLogin(server, tenant, client);
      assert.equal((await login.post('identify', { identifier })).status, 200);
      return { login, answer: await login.post('method', { method }) };
    };
    const pending = async (): Promise<readonly Item[]> => ((await (await phone.get('/approvals')).json()) as { items: Item[] }).items;
    const denied = async (reason: string): Promise<void> => {
      assert.equal((await begin(user.email, 'phone')).answer.status, 200);
      const [item] = await pending();
      assert.equal((await phone.post(`/approvals/${item!.id}/deny`, { reason })).status, 200);
    };
    const records = async (type: string): Promise<readonly { readonly target: string | null; readonly data: string | null }[]> =>
      server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries
          .selectFrom('audit_events')
          .select(['target', 'data'])
          .where('tenant_id', '=', tenant.id)
          .where('type', '=', type)
          .where((eb) => eb.or([eb('user_id', '=', user.id), eb('target', '=', `user:${user.id}`)]))
          .execute(),
      );
    const reportMails = async (): Promise<number> =>
      (await mailsTo(server, user.email)).filter(({ subject }) => /^Somebody tried to sign in/.test(subject)).length;

    it('the first not_me is recorded and mailed, mails at most one an hour; mistake and other are neither', async () => {
      for (const reason of ['mistake', 'other']) await denied(reason);
      assert.deepEqual([(await records('approval.reported')).length, await reportMails()], [0, 0]);
      await denied('not_me');
      assert.deepEqual([(await records('approval.reported')).length, await reportMails()], [1, 1]);
      const [mail] = await mailsTo(server, user.email);
      assert.match(mail!.text, /was not yours\. Nobody was signed in\.\nIt came from 127\.0\.0\.1, \d{4}-\d\d-\d\d \d\d:\d\d UTC\n/);
      await server.clock.advance(59 * 60_000);
      await denied('not_me');
      assert.deepEqual([(await records('approval.reported')).length, await reportMails()], [2, 1]);
      await server.clock.advance(2 * 60_000);
      await denied('not_me');
      assert.deepEqual([(await records('approval.reported')).length, await reportMails()], [3, 2]);
    });

    it('the second within ten minutes blocks: recorded once it is so, and nothing reaches the phone for fifteen', async () => {
      await denied('not_me');
      await server.clock.advance(10 * 60_000 + 1000);
      await denied('not_me');
      assert.equal((await records('user.sign_ins_blocked')).length, 0);
      await denied('not_me');
      assert.deepEqual(
        (await records('user.sign_ins_blocked')).map(({ target }) => target),
        [`user:${user.id}`],
      );
      const { answer } = await begin(user.email, 'phone');
      assert.deepEqual(Object.keys((await answer.json()) as object), ['state', 'number']);
      assert.deepEqual(await pending(), []);
    });

    it('reports at once are counted one after the other: one mail, one block', async () => {
      for (let time = 0; time < 2; time += 1) await begin(user.email, 'phone');
      const items = await pending();
      const answers = await Promise.all(items.map(({ id }) => phone.post(`/approvals/${id}/deny`, { reason: 'not_me' })));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200],
      );
      assert.deepEqual([await reportMails(), (await records('user.sign_ins_blocked')).length], [1, 1]);
    });

    it('open approvals: one name is refused at its cap, two names of one person are not, but the phone sees no more', async () => {
      await changeSettings(server, { ...methods, rate_limits: { ...off, approvals_pending_per_user: { limit: 2, period_seconds: 100 } } });
      await nameThem('grace');
      for (const name of [user.email, 'grace']) assert.equal((await begin(name, 'phone')).answer.status, 200);
      assert.equal((await pending()).length, 2);
      const { answer } = await begin('grace', 'phone');
      assert.deepEqual(Object.keys((await answer.json()) as object), ['state', 'number']);
      assert.equal((await pending()).length, 2);
      assert.equal((await records('approval.capped')).length, 1);
      await begin('nobody-here', 'phone');
      await begin('nobody-here', 'phone');
      await assertRefusal((await begin('nobody-here', 'phone')).answer, 'management.rate_limited');
    });

    it('approvals an hour: the same', async () => {
      await changeSettings(server, { ...methods, rate_limits: { ...off, approvals_per_user: { limit: 2, period_seconds: 101 } } });
      await nameThem('hopper');
      for (const name of [user.email, 'hopper']) assert.equal((await begin(name, 'phone')).answer.status, 200);
      assert.equal((await pending()).length, 2);
      assert.equal((await begin('hopper', 'phone')).answer.status, 200);
      assert.equal((await pending()).length, 2);
      assert.equal((await records('approval.capped')).length, 1);
      await assertRefusal((await begin('hopper', 'phone')).answer, 'management.rate_limited');
    });

    it('mailed codes an hour: one name waits, another name of the person does not and gets no mail', async () => {
      await changeSettings(server, { ...methods, rate_limits: off, pin: { sends_per_hour_max: 2 } });
      await nameThem('lovelace');
      const sent = async (): Promise<number> => (await mailsTo(server, user.email)).filter(({ text }) => /^\d{6}$/m.test(text)).length;
      for (const name of [user.email, 'lovelace']) assert.equal((await begin(name, 'email_pin')).answer.status, 200);
      assert.equal(await sent(), 2);
      await server.clock.advance(61_000);
      assert.deepEqual(await (await begin('lovelace', 'email_pin')).answer.json(), { state: 'pin' });
      assert.equal(await sent(), 2);
      assert.equal((await records('pin.capped')).length, 1);
      await assertRefusal((await begin('lovelace', 'email_pin')).answer, 'pin.cooldown_active');
    });
  });
