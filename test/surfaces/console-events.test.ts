// The Events page of the console (design 13, section 2): what happened in plain words, people and applications by name, filters by name,
// person and days of the reader, pages both ways, CSV; and what the Management API's `/events` does for it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { insertAuditEvents } from '../../src/storage/records/audit-events.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestUser, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith } from '../support/roles.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Page {
  readonly items: readonly Json[];
  readonly next_cursor?: string;
  readonly previous_cursor?: string;
  readonly names?: Readonly<Record<string, string>>;
}

for (const database of databases) {
  describe(`console events on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const created = await createConsoleTenant(server);
      tenant = created.tenant;
      ({ visitor } = await openConsole(server, tenant, created.email));
    });
    after(() => server.close());

    const show = async (path: string, status = 200): Promise<string> => {
      const response = await visitor.page(path);
      const text = await response.text();
      assert.equal(response.status, status, `${path}: ${/id="notice">([^<]*)</.exec(text)?.[1]}`);
      return text;
    };
    const rowsOf = (page: string): number => (page.match(/<tr>/g) ?? []).length - 1;
    const below = (link: string): string => link.replaceAll('&#38;', '&').replace(/^.*\/console/, '');
    const linkOf = (page: string, id: string): string => below(new RegExp(`id="${id}" href="([^"]+)"`).exec(page)?.[1] ?? '');
    /** A day so many days ago: records are kept for thirty. */
    const dayAgo = (days: number): string => new Date(server.clock.nowMs() - days * 86_400_000).toISOString().slice(0, 10);
    /** Records of that time, said to be of a person. */
    const record = async (day: string, count: number, user: string): Promise<void> => {
      const stored = await server.gatehouse.services.tenants.bySlug(tenant.slug);
      const nowMs = Date.parse(day);
      const events = Array.from({ length: count }, () => ({ type: 'user.suspended' as const, actor: 'operator', target: `user:${user}` }));
      await server.gatehouse.services.database.write(stored!.id, (queries) => insertAuditEvents(queries, stored!.id, nowMs, events));
    };

    it('says what happened, and people and applications by name, with links', async () => {
      const { id } = await createTestUser(tenant, 'grace@x.example', { display_name: 'Grace Hopper' });
      const client = String((await tenant.make('POST', '/clients', { name: 'Compiler', type: 'public' }))['client_id']);
      await visitor.act(`/users/${id}/suspend`, { sure: 'yes' });
      const page = await show('/events');
      assert.match(page, /<span title="user\.suspended">A person may no longer sign in<\/span>/);
      assert.ok(page.includes(`/console/users/${id}">Grace Hopper</a>`));
      assert.ok(page.includes(`/console/clients/${client}">Compiler</a>`));
      assert.match(page, /\/console\/users\/[0-9a-f-]{36}">Ada Lovelace<\/a>|>admin@[^<]+<\/a>/);
      assert.match(page, /<option value="user\.\*">Person<\/option>/);
      await tenant.make('DELETE', `/users/${id}`);
      assert.match(await show('/events?type=user.deleted'), new RegExp(`Person <code>${id}</code>`));
    });

    it('filters by type, by a kind of types, and by person, chosen of several where a part of a name means more', async () => {
      const first = await createTestUser(tenant, 'kay@x.example', { display_name: 'Kay McNulty' });
      const second = await createTestUser(tenant, 'kayla@x.example', { display_name: 'Kayla Jones' });
      await tenant.make('POST', `/users/${first.id}/suspend`, {});
      assert.equal(rowsOf(await show(`/events?type=user.suspended&user=${first.id}`)), 1);
      assert.equal(rowsOf(await show(`/events?type=user.*&user=${first.id}`)), 2);
      assert.equal(rowsOf(await show('/events?person=mcnul')), 2);
      const several = await show('/events?person=KAY&type=user.created');
      assert.match(several, /Who is meant\?/);
      const chosen = below(new RegExp(`href="([^"]*user=${second.id}[^"]*)">Kayla Jones`).exec(several)?.[1] ?? '');
      const page = await show(chosen);
      assert.equal(rowsOf(page), 1);
      assert.match(page, /id="person" value="Kayla Jones" readonly/);
      assert.match(linkOf(page, 'anybody'), /^\/events\?type=user\.created$/);
      assert.match(await show('/events?person=zzzz', 400), /Nobody has “zzzz” in a name or email/);
      assert.match(await show('/events?type=user.exploded'), /Nothing found/);
    });

    it('asks about what, and then what happened to it', async () => {
      const { id } = await createTestUser(tenant, 'which@x.example');
      await tenant.make('POST', `/users/${id}/suspend`, {});
      assert.doesNotMatch(await show(`/events?user=${id}`), /name="which"/);
      const chosen = (page: string): readonly string[] =>
        [...page.matchAll(/<option value="([^"]*)" selected>/g)].map(([, value]) => value!);
      const about = await show(`/events?user=${id}&type=user.*`);
      assert.deepEqual(chosen(about), ['user.*']);
      assert.match(
        about,
        /<select id="which" name="which"><option value="">Anything<\/option>.*<option value="user\.suspended">A person may no longer sign in</,
      );
      const both = await show(`/events?user=${id}&type=user.*&which=user.suspended`);
      assert.deepEqual(chosen(both), ['user.*', 'user.suspended']);
      assert.equal(rowsOf(both), 1);
      assert.deepEqual(chosen(await show('/events?type=user.suspended')), ['user.*', 'user.suspended']);
      // Of another kind it was left behind.
      assert.deepEqual(chosen(await show('/events?type=client.*&which=user.suspended')), ['client.*']);
      assert.deepEqual(chosen(await show('/events?which=user.suspended')), ['']);
      assert.equal(below(linkOf(both, 'csv')), `/events/export?type=user.*&which=user.suspended&user=${id}`);
      const csv = await (await visitor.page(linkOf(both, 'csv'))).text();
      assert.equal(csv.trim().split('\r\n').length, 2);
    });

    it('days are those of the reader’s zone, and of UTC without one', async () => {
      const { id } = await createTestUser(tenant, 'day@x.example');
      const [day, next] = [dayAgo(3), dayAgo(2)];
      await record(`${day}T22:30:00Z`, 1, id);
      const rows = async (query: string): Promise<number> => {
        const page = await show(`/events?user=${id}&type=user.suspended&${query}`);
        return page.includes('Nothing found') ? 0 : rowsOf(page);
      };
      assert.equal(await rows(`from=${day}&to=${day}`), 1);
      assert.equal(await rows(`from=${day}&to=${day}&zone=Africa/Lagos`), 1);
      assert.equal(await rows(`from=${next}&to=${next}&zone=Asia/Tokyo`), 1);
      assert.equal(await rows(`from=${day}&to=${day}&zone=Asia/Tokyo`), 0);
      assert.equal(await rows(`from=${next}&zone=Africa/Lagos&to=${next}`), 0);
      assert.equal(await rows(`from=${next}&to=${next}&zone=Nowhere/Land`), 0);
      assert.match(await show('/events?from=yesterday', 400), /yesterday is no date\. Type it as 2026-01-31\./);
      assert.match(await show('/events?zone=Asia/Tokyo'), /Days are those of <span class="zone">Asia\/Tokyo/);
    });

    it('pages lead both ways and keep the filters', async () => {
      const { id } = await createTestUser(tenant, 'pages@x.example');
      const day = dayAgo(4);
      await record(`${day}T05:05:05Z`, 55, id);
      const query = `/events?user=${id}&from=${day}&to=${day}`;
      const first = await show(query);
      assert.equal(rowsOf(first), 20);
      assert.doesNotMatch(first, /id="previous"/);
      const second = await show(linkOf(first, 'next'));
      assert.equal(rowsOf(second), 20);
      const third = await show(linkOf(second, 'next'));
      assert.equal(rowsOf(third), 15);
      assert.doesNotMatch(third, /id="next"/);
      const back = await show(linkOf(third, 'previous'));
      const ids = (page: string): string => (/<tbody>.*<\/tbody>/s.exec(page)?.[0] ?? '').replaceAll(/\s/g, '');
      assert.equal(ids(back), ids(second));
      const start = await show(linkOf(back, 'previous'));
      assert.equal(ids(start), ids(first));
      assert.doesNotMatch(start, /id="previous"/);
    });

    it('CSV holds what the filters find, with names, and nothing a spreadsheet would run', async () => {
      const { id } = await createTestUser(tenant, 'csv@x.example', { display_name: '=cmd|calc' });
      const response = await visitor.page(`/events/export?user=${id}&type=user.created`);
      assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8');
      assert.equal(response.headers.get('content-disposition'), 'attachment; filename="events.csv"');
      const [head, row, rest] = (await response.text()).split('\r\n');
      assert.equal(head, 'created_at,type,what,who,to,actor,target,request_id,row,reason,received,expected,details,id');
      assert.match(row ?? '', /,user\.created,A person has an account,[^,]*,'=cmd\|calc,client:[^,]+,user:/);
      assert.equal(rest, '');
      const { id: many } = await createTestUser(tenant, 'manycsv@x.example');
      await record(`${dayAgo(5)}T06:06:06Z`, 230, many);
      const all = await (await visitor.page(`/events/export?user=${many}&type=user.suspended`)).text();
      assert.equal(all.trim().split('\r\n').length, 231);
      assert.equal((await visitor.page('/events/export?person=zzzz')).status, 400);
    });

    it('CSV is whole, however long the list is', async () => {
      const { id } = await createTestUser(tenant, 'whole@x.example');
      for (let part = 0; part < 11; part += 1) await record(`${dayAgo(6)}T0${part % 10}:07:07Z`, 1000, id);
      const all = await (await visitor.page(`/events/export?user=${id}&type=user.suspended`)).text();
      assert.equal(all.trim().split('\r\n').length, 11_001);
    });

    it('the tab Activity of people and applications: what was recorded of them, and the way to all of it', async () => {
      const { id } = await createTestUser(tenant, 'tab@x.example', { display_name: 'Tab Person' });
      const client = String((await tenant.make('POST', '/clients', { name: 'Tab app', type: 'public' }))['client_id']);
      const person = await show(`/users/${id}/activity`);
      assert.match(person, /aria-current="page">Activity<[\s\S]*A person has an account/);
      assert.equal(rowsOf(await show(linkOf(person, 'all-events'))), 1);
      const application = await show(`/clients/${client}/activity`);
      assert.match(application, />An application was registered<\/span>/);
      assert.ok(!application.includes('Tab Person'));
      assert.equal(rowsOf(await show(linkOf(application, 'all-events'))), 1);
      assert.match(await show('/clients/nobody/activity', 404), /id="back"/);
      const made = { name: 'Tab SP', entity_id: 'https://tab.example', acs: [{ url: 'https://tab.example/acs' }] };
      const provider = String((await tenant.make('POST', '/service-providers', made))['id']);
      assert.match(await show(`/service-providers/${provider}/activity`), /A SAML application was registered/);
    });

    it('/events: names only of what the caller may read; a cursor leads back; refusals name the parameter', async () => {
      const { id } = await createTestUser(tenant, 'named@x.example', { display_name: 'Named One' });
      const list = (query: string, by = tenant): Promise<Page> => by.make<Page>('GET', `/events?${query}`);
      assert.equal((await list(`names=shown&user=${id}`)).names?.[`user:${id}`], 'Named One');
      assert.equal((await list(`user=${id}`)).names, undefined);
      const narrow = await machineWith(tenant, ['events:read']);
      assert.deepEqual((await list(`names=shown&user=${id}`, narrow)).names, {});
      await assertRefusal(await tenant.call('GET', '/events?names=all'), 'management.invalid_request', {
        kind: 'names',
        text: 'This field must be one of shown.',
      });
      await assertRefusal(await tenant.call('GET', '/events?cursor=newer'), 'management.invalid_request', {
        kind: 'cursor',
        text: 'This parameter is not a cursor of this list.',
      });
    });
  });
}
