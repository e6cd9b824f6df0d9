// What a SAML application needs of us, on one page (design 23, part 3): as the application itself finds it, also where it has keys of its own.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { noteSignIns } from '../../src/storage/registry/last-sign-ins.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestUser } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const plain = (text: string): string =>
  text.replace(/&#(\d+);/g, (_match, code) => String.fromCharCode(Number(code))).replaceAll('&amp;', '&');
const shownIn = (page: string, id: string): string => plain(new RegExp(`id="${id}">([^<]*)<`).exec(page)?.[1] ?? '');

for (const database of databases)
  describe(`handing over to a SAML application on ${database}`, () => {
    let server: TestServer;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const { tenant, email } = await createConsoleTenant(server);
      ({ visitor } = await openConsole(server, tenant, email));
    });
    after(() => server.close());

    it('a new one leads there; address, entity ID and certificate are those it meets', async () => {
      const { tenant } = visitor;
      const fields = { name: 'Wiki', entity_id: 'https://wiki.example/saml', acs: 'https://wiki.example/acs', idp_initiated_allowed: 'on' };
      const provider = await tenant.make<{ readonly id: string }>('POST', '/service-providers', {
        ...{ entity_id: fields.entity_id, name: fields.name, acs: [{ url: fields.acs }], idp_initiated_allowed: true },
      });
      const page = await (await visitor.page(`/service-providers/${provider.id}/handover`)).text();
      const metadata = await (await fetch(shownIn(page, 'metadata'))).text();
      assert.ok(metadata.includes(`entityID="${shownIn(page, 'entity-id')}"`));
      assert.ok(metadata.includes(`Location="${shownIn(page, 'sso')}"`));
      assert.equal(shownIn(page, 'start'), `${tenant.baseUrl}/v1/idp/saml/sso?sp=https%3A%2F%2Fwiki.example%2Fsaml`);
      const certificate = new X509Certificate(shownIn(page, 'certificate'));
      const published = new X509Certificate(await (await fetch(`${tenant.baseUrl}/v1/idp/saml/certificate`)).text());
      assert.equal(certificate.fingerprint256, published.fingerprint256);
      assert.equal(shownIn(page, 'fingerprint'), published.fingerprint256);
      const file = await visitor.page(`/service-providers/${provider.id}/handover/certificate`);
      assert.equal(file.headers.get('content-disposition'), 'attachment; filename="gatehouse-saml.pem"');
      assert.equal(new X509Certificate(await file.text()).fingerprint256, published.fingerprint256);
      await tenant.make('PATCH', `/service-providers/${provider.id}`, { signing_key: 'own' });
      await tenant.make('POST', `/service-providers/${provider.id}/signing-keys`, { force: true });
      const own = await (await visitor.page(`/service-providers/${provider.id}/handover`)).text();
      const now = await (await fetch(shownIn(own, 'metadata'))).text();
      assert.notEqual(shownIn(own, 'fingerprint'), published.fingerprint256);
      assert.ok(now.includes(new X509Certificate(shownIn(own, 'certificate')).raw.toString('base64')));
    });

    it('made by hand, it is told what the form offers to tell it: the same as where the API is not told', async () => {
      const form = await (await visitor.page('/service-providers/new')).text();
      const rows = [...form.matchAll(/name="(attribute_map\.\d+\.(?:from|to))" id="[^"]+" value="([^"]+)"/g)].map(([, name, value]) => [
        name!,
        value!,
      ]);
      const response = await visitor.submit('/service-providers', {
        ...{ name: 'By hand', entity_id: 'https://by-hand.example', 'acs.0.url': 'https://by-hand.example/acs', access_policy: 'everyone' },
        ...{ acs: 'rows', attribute_map: 'pairs', name_id_formats: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent', enabled: 'on' },
        ...{ signing: 'both', signing_key: 'tenant', ...Object.fromEntries(rows) },
      });
      assert.equal(response.status, 303, await response.text());
      const { items } = await visitor.tenant.make<{ readonly items: readonly Record<string, unknown>[] }>(
        'GET',
        '/service-providers?search=by-hand',
      );
      const told = await visitor.tenant.make('POST', '/service-providers', {
        ...{ entity_id: 'https://by-api.example', acs: [{ url: 'https://by-api.example/acs' }] },
      });
      assert.deepEqual(items[0]?.['attribute_map'], told['attribute_map']);
      assert.ok(Object.keys(told['attribute_map'] as object).length > 0);
    });

    it('its long form shows what everybody needs, and the part in which something is wrong', async () => {
      const partsOf = (page: string): readonly string[] =>
        [...page.matchAll(/<details class="part"( open)?><summary>([^<]+)</g)].map(([, open, name]) => `${name}${open ?? ''}`);
      assert.deepEqual(partsOf(await (await visitor.page('/service-providers/new')).text()), ['Keys', 'Sign-in', 'Attributes', 'Metadata']);
      const refused = await visitor.submit('/service-providers', {
        ...{ entity_id: 'https://parts.example', acs: 'rows', 'acs.0.url': 'https://parts.example/acs', attribute_map: 'pairs' },
        ...{ name_id_formats: 'no format', signing: 'both', signing_key: 'tenant', access_policy: 'everyone' },
      });
      assert.equal(refused.status, 400);
      assert.deepEqual(partsOf(await refused.text()), ['Keys', 'Sign-in open', 'Attributes', 'Metadata']);
    });

    it('a page to send: by its link without signing in, for seven days, green once somebody has signed in', async () => {
      const { tenant } = visitor;
      const { id } = await tenant.make<{ readonly id: string }>('POST', '/service-providers', {
        ...{ name: 'Sent <b>', entity_id: 'https://sent.example/saml', acs: [{ url: 'https://sent.example/acs' }] },
      });
      const own = await (await visitor.page(`/service-providers/${id}/handover`)).text();
      const link = shownIn(own, 'link');
      const open = (url = link, init: RequestInit = {}): Promise<Response> =>
        fetch(url, { headers: { accept: 'text/html' }, redirect: 'manual', ...init });
      const answer = await open();
      const page = await answer.text();
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/);
      assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      for (const part of ['metadata', 'entity-id', 'sso', 'certificate', 'fingerprint'])
        assert.equal(shownIn(page, part), shownIn(own, part));
      assert.match(page, /Connect Sent &#60;b&#62; to/);
      assert.match(page, /data-waits="yes"[^>]*><h2>Waiting for the first sign-in/);
      assert.doesNotMatch(page, /\/console\/|<form/);
      assert.equal((await open(`${link}/certificate`)).headers.get('content-type'), 'application/x-pem-file');
      assert.equal((await open(link, { method: 'POST' })).status, 405);
      const other = (await createConsoleTenant(server)).tenant;
      for (const wrong of [
        `${link}x`,
        link.slice(0, -4),
        `${tenant.baseUrl}/handed-over/v1.x.y`,
        link.replace(tenant.baseUrl, other.baseUrl),
        `${tenant.baseUrl}/handed-over/${encodeURIComponent('é'.repeat(50))}`,
      ])
        for (const below of ['', '/certificate']) assert.equal((await open(`${wrong}${below}`)).status, 404, wrong);
      const { services } = server.gatehouse;
      const stored = (await services.tenants.bySlug(tenant.slug))!;
      await services.database.write(stored.id, (queries) =>
        noteSignIns(queries, stored.id, [{ kind: 'service_provider', id, atMs: server.clock.nowMs() }]),
      );
      assert.match(await (await open()).text(), /class="notice good" id="works">It works: somebody signed in to Sent/);
      assert.match(await (await visitor.page(`/service-providers/${id}/handover`)).text(), /id="works"/);
      const days = 86_400_000;
      await server.clock.advance(7 * days - 60_000);
      assert.equal((await open()).status, 200);
      await server.clock.advance(120_000);
      assert.equal((await open()).status, 404);
    });

    it('whoever may read applications sees it; one that is none has no page', async () => {
      const { tenant } = visitor;
      const { id } = await tenant.make<{ readonly id: string }>('POST', '/service-providers', {
        entity_id: 'https://b.example',
        acs: [{ url: 'https://b.example/acs' }],
      });
      await createTestUser(tenant, 'auditor@handover.example', { admin_roles: ['auditor'] });
      const { visitor: reader } = await openConsole(server, tenant, 'auditor@handover.example');
      assert.equal((await reader.page(`/service-providers/${id}/handover`)).status, 200);
      for (const path of ['/service-providers/none/handover', '/service-providers/none/handover/certificate'])
        assert.equal((await visitor.page(path)).status, 404, path);
    });
  });
