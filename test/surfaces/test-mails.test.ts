// Mails sent to see them (design 17, hole 2): they carry a wording of one's own under the tenant's name, so `mail:write` alone sends them
// to nobody but administrators, and everybody only so many an hour. And whoever names the mail server reads mailed codes: it takes
// what those hold whom a mailed code lets in.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { testMailsPerHourMax } from '../../src/contract/limits.ts';
import { findUserByIdentifier } from '../../src/storage/people/users.ts';
import { createConsoleTenant } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { createTestUser } from '../support/management.ts';
import { givePasskey } from '../support/passkeys.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith } from '../support/roles.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const path = '/mails/pin/en/test';
const server = { host: 'smtp.elsewhere.example', port: 587, security: 'starttls', from: 'a@elsewhere.example' };

for (const database of databases)
  describe(`tests of mails on ${database}`, () => {
    let at: TestServer;
    before(async () => {
      at = await startTestServer(database);
    });
    after(() => at.close());

    it('mail:write sends them to people who hold a role, and to nobody else', async () => {
      const { tenant, email } = await createConsoleTenant(at);
      await createTestUser(tenant, 'grace@people.example', { emails: [{ value: 'grace@people.example', primary: true }] });
      const machine = await machineWith(tenant, ['mail:read', 'mail:write']);
      assert.equal((await machine.call('POST', path, { to: email.toUpperCase() })).status, 204);
      const answers = [];
      for (const to of ['stranger@elsewhere.example', 'grace@people.example'])
        answers.push(
          await assertRefusal(await machine.call('POST', path, { to }), 'management.invalid_request', { kind: 'to', text: /holds a role/ }),
        );
      assert.equal(answers[0], answers[1]); // it says nothing of who is there
      assert.equal((await tenant.call('POST', path, { to: 'stranger@elsewhere.example' })).status, 204); // it may invite anybody
    });

    it('testMailsPerHourMax in an hour, however many ask at once', async () => {
      const { tenant, email } = await createConsoleTenant(at);
      const machine = await machineWith(tenant, ['mail:write']);
      const send = (): Promise<Response> => machine.call('POST', path, { to: email });
      for (let sent = 1; sent < testMailsPerHourMax; sent += 1) assert.equal((await send()).status, 204, String(sent));
      const last = await Promise.all([send(), send(), send(), send()]);
      assert.deepEqual(last.map(({ status }) => status).sort(), [204, 429, 429, 429]);
      assert.ok(Number(last.find(({ status }) => status === 429)!.headers.get('retry-after')) > 0);
    });

    it('the mail server takes what those hold whom a mailed code lets in, at both of its addresses', async () => {
      const { tenant, email } = await createConsoleTenant(at);
      const machine = await machineWith(tenant, ['sign-in:read', 'sign-in:write', 'mail:read', 'mail:write']);
      const put = (): Promise<Response> => machine.call('PUT', '/mail-server', server);
      const patch = (): Promise<Response> => machine.call('PATCH', '/settings', { smtp: { server } });
      for (const refused of [await put(), await patch()])
        await assertRefusal(refused, 'management.forbidden', { text: /lacks the capability/ });
      assert.equal((await machine.call('PATCH', '/settings', { pin: { length: 8 } })).status, 200);
      assert.equal((await tenant.call('PUT', '/mail-server', server)).status, 200); // it holds everything
      assert.equal((await machine.call('DELETE', '/mail-server')).status, 204); // codes go by the deployment's server again
      const { services } = at.gatehouse;
      const stored = (await services.tenants.bySlug(tenant.slug))!;
      const owner = (await services.database.read(stored.id, (queries) => findUserByIdentifier(queries, stored.id, email)))!;
      await givePasskey(at, stored, { id: owner.id, email });
      for (const taken of [await put(), await patch()]) assert.equal(taken.status, 200); // no code lets the owner in any more
    });
  });
