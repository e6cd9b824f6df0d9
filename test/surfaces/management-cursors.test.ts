// Cursors of the lists of the Management API: one that a list gave leads on, whatever people are called; one that no list gave is refused by
// every list, with 400.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { profileCharsMax } from '../../src/contract/limits.ts';
import { managementEndpoints } from '../../src/management/endpoints.ts';
import { databases } from '../support/databases.ts';
import { createTestClient, createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Page {
  readonly items: readonly Json[];
  readonly next_cursor?: string;
  readonly previous_cursor?: string;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64url');
/** Far apart, so that no two of them are like each other. */
const rareLetters = Array.from({ length: profileCharsMax }, (_, at) => String.fromCodePoint(0x20000 + ((at * 7919) % 0xa000))).join('');

for (const database of databases)
  describe(`cursors on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server, { settings: { rate_limits: { management_requests_per_client: null } } });
    });
    after(() => server.close());

    it('lead on behind names as long as there are, forth and back', async () => {
      const { id: organization } = await tenant.make('POST', '/organizations', { name: 'acme' });
      // The last is eighteen letters, each, as names are sorted.
      const names = [
        'Ada',
        '"\\'.repeat(profileCharsMax / 2),
        'é'.repeat(profileCharsMax),
        rareLetters,
        '\u{fdfa}'.repeat(profileCharsMax),
      ];
      const people: string[] = [];
      for (const [at, name] of names.entries()) {
        const { id } = await createTestUser(tenant, `long-${at}@x.example`, { display_name: name });
        await tenant.make('PUT', `/organizations/${String(organization)}/members/${id}`, {});
        people.push(id);
      }
      const members = `/organizations/${String(organization)}/members?`;
      for (const list of ['/users?sort=name&', '/users?sort=-name&', '/users?sort=best&contains=long&', members]) {
        const found: unknown[] = [];
        let page: Page = { items: [] };
        for (let cursor: string | undefined = ''; cursor !== undefined; cursor = page.next_cursor) {
          page = await tenant.make<Page>('GET', `${list}limit=1${cursor && `&cursor=${cursor}`}`);
          found.push(...page.items.map((one) => one['user_id'] ?? one['id']));
        }
        assert.deepEqual(found.toSorted(), people.toSorted(), list);
        if (list === members) continue;
        const back = await tenant.make<Page>('GET', `${list}limit=10&cursor=${String(page.previous_cursor)}`);
        assert.deepEqual(
          back.items.map(({ id }) => id),
          found.slice(0, -1),
          list,
        );
      }
    });

    it('are refused where no list gave them, by every list', async () => {
      const make = async (path: string, body: Json): Promise<string> => String((await tenant.make('POST', path, body))['id']);
      const connector = { name: 'c', base_url: 'https://scim.example', auth: { type: 'bearer', token: 'a' }, enabled: false };
      const ids: Readonly<Record<string, string>> = {
        clients: (await createTestClient(tenant)).client_id,
        connectors: await make('/connectors', connector),
        directories: await make('/directories', {
          ...{ name: 'Corp', enabled: false, kind: 'openldap', url: 'ldaps://corp.example', base_dn: 'dc=corp' },
          ...{ bind_dn: 'cn=reader,dc=corp', bind_password: 'p' },
        }),
        groups: await make('/groups', { display_name: 'Staff' }),
        organizations: await make('/organizations', { name: 'globex' }),
        resources: await make('/resources', { identifier: 'https://api.example', name: 'API' }),
        'service-providers': await make('/service-providers', {
          name: 'SP',
          entity_id: 'https://sp.example',
          acs: [{ url: 'https://sp.example/acs' }],
        }),
        webhooks: await make('/webhooks', { url: 'https://hook.example', enabled: false }),
      };
      const lists = managementEndpoints.filter(
        ({ query, operatorOnly }) => operatorOnly !== true && Object.hasOwn((query as { properties?: object })?.properties ?? {}, 'cursor'),
      );
      assert.ok(lists.length > 20);
      const placed = JSON.stringify([0, 'a\0', 1, 'x', 'name']);
      for (const { path } of lists) {
        const at = path.replace(/^\/([a-z-]+)\/:id/, (_, kind: string) => `/${kind}/${ids[kind]}`);
        const queries = [
          ...['*', base64('a'), base64('3:a'), base64('1:\0'), base64('1:a\0b')],
          ...[base64('2:a'), base64(`1:["a\\u0000","b"]`), 'A'.repeat(5000)],
          Buffer.concat([Buffer.from('2:'), deflateRawSync('a\0')]).toString('base64url'),
          Buffer.concat([Buffer.from('2:'), deflateRawSync('a'.repeat(1_000_000))]).toString('base64url'),
        ].map((cursor) => `cursor=${cursor}`);
        if (path === '/users') queries.push(`sort=name&cursor=${base64(`1:${placed}`)}`);
        for (const query of queries)
          await assertRefusal(await tenant.call('GET', `${at}?${query}`), 'management.invalid_request', {
            kind: 'cursor',
            text: 'This parameter is not a cursor of this list.',
          });
      }
    });
  });
