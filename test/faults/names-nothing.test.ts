// What names nothing is said at once (design 21, 2), and not by a silence nobody can explain: a hook for an application that is not there
// is never asked, a stream at an address that is refused never gets a token. On both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestClient, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { makeReceiver, pushMethod, type Receiver, type Stream } from '../support/ssf.ts';

const allowed = '127.0.0.8/32';

for (const database of databases)
  describe(`what names nothing is said at once, on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database, { flags: { egress_allow: allowed } });
      const made = await createConsoleTenant(server);
      ({ tenant } = made);
      ({ visitor } = await openConsole(server, tenant, made.email));
    });
    after(() => server.close());

    describe('a hook for a client or service provider that is not there', () => {
      const hook = { point: 'token', url: 'https://hooks.example/', on_failure: 'refuse' };
      const refuse = async (method: string, path: string, body: Json, unknown: string): Promise<void> =>
        void (await assertRefusal(await tenant.call(method, path, body), 'management.invalid_request', {
          kind: 'clients',
          text: `This field names no client and no service provider: ${unknown}.`,
        }));
      let mine: string;
      let path: string;
      before(async () => {
        mine = (await createTestClient(tenant)).client_id;
      });

      it('is 400 clients when it is made, and nothing is made', async () => {
        await refuse('POST', '/hooks', { ...hook, clients: [mine, 'nobody'] }, 'nobody');
        assert.deepEqual(await tenant.make('GET', '/hooks'), { items: [] });
      });

      it('is 400 clients when it is changed; another tenant has it or not', async () => {
        const { id } = await tenant.make('POST', '/hooks', { ...hook, clients: [mine] });
        path = `/hooks/${id}`;
        const { tenant: other } = await createConsoleTenant(server);
        const theirs = (await createTestClient(other)).client_id;
        await refuse('PATCH', path, { clients: [mine, theirs] }, theirs);
        await refuse('PATCH', path, { clients: ['https://sp.example'] }, 'https://sp.example');
        const provider = { name: 'SP', entity_id: 'https://sp.example', acs: [{ url: 'https://sp.example/acs' }] };
        const { id: providerId } = await tenant.make('POST', '/service-providers', provider);
        await refuse('PATCH', path, { clients: [String(providerId)] }, String(providerId)); // its own id is no entity ID
        await tenant.make('PATCH', path, { clients: ['https://sp.example', mine] });
      });

      it('is told in the console beside its field', async () => {
        const fields = { url: hook.url, on_failure: 'refuse', deadline_ms: '500' };
        const refused = await (await visitor.submit(path, { ...fields, clients: `${mine}\nnobody` })).text();
        assert.match(refused, /names no client and no service provider: nobody\./);
        assert.deepEqual((await tenant.make('GET', path))['clients'], ['https://sp.example', mine]);
      });

      it('one that has gone since may stay, and cannot come back', async () => {
        await tenant.make('DELETE', `/clients/${mine}`);
        await tenant.make('PATCH', path, { clients: [mine, 'https://sp.example'], deadline_ms: 700 });
        await tenant.make('PATCH', path, { clients: ['https://sp.example'] });
        await refuse('PATCH', path, { clients: ['https://sp.example', mine] }, mine);
      });
    });

    describe('a stream at an address that egress_allow does not open', () => {
      let receiver: Receiver;
      let stream: Stream;
      const push = (url: string): Json => ({ delivery: { method: pushMethod, endpoint_url: url } });
      const refuse = async (method: string, body: Json): Promise<void> =>
        void (await assertRefusal(await receiver.call(method, '/streams', body), 'management.invalid_request', {
          kind: 'delivery.endpoint_url',
          text: 'This field must be an address that is reached from here.',
        }));
      before(async () => {
        receiver = await makeReceiver(tenant);
      });
      const closed = ['https://127.0.0.1/', 'https://10.1.2.3/sets', 'https://[::1]/', 'https://localhost/', 'http://203.0.113.7/'];

      it('is 400 delivery.endpoint_url when it is made', async () => {
        for (const url of closed) await refuse('POST', push(url));
        assert.deepEqual(await (await receiver.call('GET', '/streams')).json(), []);
      });

      it('is so when it is changed or replaced, and stays as it was', async () => {
        stream = await receiver.makeStream(push('http://127.0.0.8:9/sets'));
        for (const method of ['PATCH', 'PUT'])
          for (const url of closed) await refuse(method, { stream_id: stream.stream_id, ...push(url) });
        assert.deepEqual(await (await receiver.call('GET', `/streams?stream_id=${stream.stream_id}`)).json(), stream);
      });

      it('a name that nobody knows yet is taken: the DNS may learn it', async () => {
        const later = { stream_id: stream.stream_id, ...push('https://not-yet.invalid/sets') };
        assert.equal((await receiver.call('PATCH', '/streams', later)).status, 200);
      });
    });
  });
