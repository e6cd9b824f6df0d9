// `/client-hosts` and the console's "Agents by host" (design 18, part 2): programs nobody registered, by what is known of them as a fact.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { grantsCountedMax } from '../../src/contract/limits.ts';
import type { ClientId, GrantId, TenantId } from '../../src/domain/ids.ts';
import { type DocumentServer, loopbackUri, openTenant, personOf, register, signIn, startDocumentServer } from '../support/agents.ts';
import { openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { clientCredentialsToken, createTestTenant, type Json, jsonOf, type Managed, managedWith } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Hosts {
  readonly items: readonly Json[];
  readonly next_cursor?: string;
}

const hostOf = ({ host, origin }: Json): readonly unknown[] => [origin, host];

for (const database of databases)
  describe(`programs nobody registered by host, on ${database}`, () => {
    let server: TestServer;
    let documents: DocumentServer;
    let managed: Managed;
    let host: string;
    let ids: readonly string[];
    let people: readonly Awaited<ReturnType<typeof personOf>>[];
    before(async () => {
      server = await startTestServer(database, { flags: { egress_allow: '127.0.0.0/8' } });
      documents = await startDocumentServer(server);
      managed = await openTenant(server);
      const document = { client_name: 'Agent', redirect_uris: [loopbackUri], token_endpoint_auth_method: 'none' };
      ids = ['/one.json', '/two.json'].map((path) => documents.publish(path, document));
      host = new URL(ids[0]!).host;
      people = [await personOf(server, managed), await personOf(server, managed)];
    });
    after(async () => {
      await documents.close();
      await server.close();
    });
    const list = (query = ''): Promise<Hosts> => managed.make<Hosts>('GET', `/client-hosts${query}`);
    const letIn = (id: string, { email }: { readonly email: string }) => signIn(server, managed, { client_id: id }, email);
    const ofDocuments = async (): Promise<Json> => (await list()).items.find(({ origin }) => origin === 'document') ?? {};

    it('none has come', async () => assert.deepEqual(await list(), { items: [] }));

    it('programs, and each person once, whatever programs of the host they let in', async () => {
      const [one = '', two = ''] = ids;
      await letIn(one, people[0]!);
      await eventually(async () => 'last_sign_in_at' in (await ofDocuments()), 'the last sign-in');
      const { last_sign_in_at: at, ...first } = await ofDocuments();
      assert.deepEqual(first, { host, origin: 'document', standing: 'unchecked', clients: 1, people: 1 });
      assert.match(String(at), /^\d{4}-\d\d-\d\dT/);
      await server.clock.advance(60_000); // the next code may be mailed
      await letIn(two, people[0]!);
      await letIn(two, people[1]!);
      assert.deepEqual([(await ofDocuments())['clients'], (await ofDocuments())['people']], [2, 2]);
      await managed.make('DELETE', `/users/${people[1]!.id}`);
      assert.equal((await ofDocuments())['people'], 1);
    });

    it('counts people in so many grants, and says where there are more', async () => {
      const { database } = server.gatehouse.services;
      const tenant = managed.id as TenantId;
      const add = (count: number): Promise<unknown> =>
        database.write(tenant, async (queries) => {
          const { id: _id, ...grant } = await queries
            .selectFrom('grants')
            .selectAll()
            .where('revoked_at', 'is', null)
            .executeTakeFirstOrThrow();
          for (let left = count; left > 0; left -= 500)
            await queries
              .insertInto('grants')
              .values(Array.from({ length: Math.min(left, 500) }, () => ({ ...grant, id: randomUUID() as GrantId })))
              .execute();
        });
      const live = await database.read(tenant, (queries) =>
        queries
          .selectFrom('grants')
          .select('id')
          .where('tenant_id', '=', tenant)
          .where('client_id', 'in', ids as ClientId[])
          .where('revoked_at', 'is', null)
          .execute(),
      );
      const told = async (): Promise<readonly unknown[]> => {
        const { people: count, has_more_people: isMore } = await ofDocuments();
        return [count, isMore];
      };
      await add(grantsCountedMax - live.length);
      assert.deepEqual(await told(), [1, undefined]);
      await add(1);
      assert.deepEqual(await told(), [1, true]);
    });

    it('those that registered without a token: where answers go, or somebody’s computer', async () => {
      for (const uri of ['https://rp.example:8443/back', 'https://rp.example:8443/other', loopbackUri])
        await jsonOf(await register(managed, { client_name: 'Own', redirect_uris: [uri], token_endpoint_auth_method: 'none' }), 201);
      const { items } = await list();
      assert.deepEqual(
        items.filter(({ origin }) => origin === 'open'),
        [
          { host: null, origin: 'open', standing: 'unchecked', clients: 1, people: 0 },
          { host: 'rp.example:8443', origin: 'open', standing: 'unchecked', clients: 2, people: 0 },
        ],
      );
      assert.deepEqual(
        items.map((one) => one['host']),
        [null, host, 'rp.example:8443'],
      );
    });

    it('page by page, the same', async () => {
      const paged: Json[] = [];
      for (let query = '?limit=1'; ; ) {
        const page = await list(query);
        assert.equal(page.items.length, 1);
        paged.push(...page.items);
        if (page.next_cursor === undefined) break;
        query = `?limit=1&cursor=${page.next_cursor}`;
      }
      assert.deepEqual(paged.map(hostOf), (await list()).items.map(hostOf));
    });

    it('says what the settings say, of each port and of hosts below a name too; nothing is trusted that registered itself', async () => {
      const standingsBy = async (lists: Json): Promise<readonly unknown[]> => {
        await managed.make('PATCH', '/settings', { client_hosts: { trusted: [], blocked: [], ...lists } });
        return (await list()).items.map(({ standing }) => standing);
      };
      const name = host.replace(/:.*/, '');
      assert.deepEqual(await standingsBy({ trusted: [host, 'rp.example:8443'] }), ['unchecked', 'trusted', 'unchecked']);
      assert.deepEqual(await standingsBy({ blocked: [name, 'rp.example'] }), ['unchecked', 'blocked', 'blocked']);
      assert.deepEqual(await standingsBy({ trusted: [host], blocked: [host] }), ['unchecked', 'blocked', 'unchecked']);
      assert.deepEqual(await standingsBy({}), ['unchecked', 'unchecked', 'unchecked']);
    });

    it('is for who may read applications, and of this tenant alone', async () => {
      const other = await createTestTenant(server);
      assert.deepEqual(await other.make('GET', '/client-hosts'), { items: [] });
      const { adminClientId: id, adminClientSecret: secret, baseUrl } = managed;
      for (const [scope, status] of [
        ['users:read', 403],
        ['clients:read', 200],
      ] as const) {
        const reader = managedWith(await clientCredentialsToken(baseUrl, id, secret, scope), managed);
        assert.equal((await reader.call('GET', '/client-hosts')).status, status, scope);
      }
    });

    describe('in the console', () => {
      let visitor: AppVisitor;
      before(async () => {
        const email = `admin@${managed.slug}.example`;
        await managed.make('POST', '/users', { user_name: email, role: 'admin', emails: [{ value: email, primary: true }] });
        ({ visitor } = await openConsole(server, managed, email));
      });
      const hostsNow = async (): Promise<Json> => (await managed.make('GET', '/settings'))['client_hosts'] as Json;
      const judge = (act: string, of = host): Promise<string> => visitor.act('/client-hosts', { host: of, act });

      it('each with its programs and what may be done; a link from the applications', async () => {
        assert.match(await (await visitor.page('/clients')).text(), /href="[^"]+\/client-hosts">Agents by host/);
        const page = await (await visitor.page('/client-hosts')).text();
        assert.ok(page.includes('>at least 1<'));
        assert.ok(page.includes(`<code>${host}</code>`) && page.includes('A program on somebody’s computer'));
        assert.ok(page.includes(`/clients?search=${encodeURIComponent(host)}`));
        const labels = [...page.matchAll(/<button[^>]*>(Trust|Block|Take back)<span class="hidden"> ([^<]+)</g)];
        assert.deepEqual(
          labels.map(([, label, of]) => [label, of]),
          [
            ['Trust', host],
            ['Block', host],
            ['Block', 'rp.example:8443'],
          ],
        );
      });

      it('trusted, blocked, taken back: one list at a time', async () => {
        assert.match(await judge('trust'), /is trusted/);
        assert.deepEqual(await hostsNow(), { trusted: [host], blocked: [], only_trusted: false });
        assert.match(await judge('block'), /is blocked/);
        assert.deepEqual(await hostsNow(), { trusted: [], blocked: [host], only_trusted: false });
        assert.match(await judge('neither'), /neither trusted nor blocked/);
        assert.deepEqual(await hostsNow(), { trusted: [], blocked: [], only_trusted: false });
      });

      it('two who judge at the same moment both are heard', async () => {
        // The page that each is shown afterwards is long work, for which four of a tenant may wait.
        const hosts = Array.from({ length: 4 }, (_, at) => `agent-${at}.example`);
        await Promise.all(hosts.map((one, at) => judge(at % 2 === 0 ? 'trust' : 'block', one)));
        const { trusted, blocked } = (await hostsNow()) as Readonly<Record<'trusted' | 'blocked', readonly string[]>>;
        assert.deepEqual([...trusted, ...blocked].toSorted(), hosts);
        await managed.make('PATCH', '/settings', { client_hosts: { trusted: [], blocked: [] } });
      });

      it('an entry for several hosts is left to the settings, and what is no host is told', async () => {
        const name = host.replace(/:.*/, '');
        const lists = { trusted: [], blocked: [name, host], only_trusted: false };
        await managed.make('PATCH', '/settings', { client_hosts: lists });
        for (const [act, of, says] of [
          ['neither', host, /An entry for several hosts has/],
          ['trust', host, /An entry for several hosts has/],
          ['trust', 'https://x.example/', /id="notice">Trusted: What is typed here is not written/],
        ] as const) {
          const answer = await visitor.submit('/client-hosts', { host: of, act });
          assert.equal(answer.status, 400);
          assert.match(await answer.text(), says);
        }
        assert.deepEqual(await hostsNow(), lists);
        await managed.make('PATCH', '/settings', { client_hosts: { blocked: [] } });
      });
    });
  });
