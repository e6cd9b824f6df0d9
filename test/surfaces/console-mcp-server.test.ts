// The page of a new MCP server (design 18, 2): a name and an address, the rest follows. What is made works: a program that nobody registered
// gets a token for that server and nothing else. Its page says what to serve, how tokens are verified, and what is still to be set.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isScopeLineWrong } from '../../src/console/apis/mcp-server-form.ts';
import { protectPython, protectTypeScript } from '../../src/console/apis/mcp-snippets.ts';
import { textOf } from '../support/account.ts';
import { authorize, loopbackUri, register, signIn } from '../support/agents.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { fileBlockOf } from '../support/documents.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestUser, type Json, type Managed } from '../support/management.ts';
import { decodeJwt } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertEscaped, xssCorpus } from '../support/xss.ts';

const here = '/resources/mcp-server';
const notes = 'https://notes.example/mcp';
/** What an element shows, as the browser has it. */
const shownIn = (page: string, id: string): string =>
  (new RegExp(`id="${id}">([^<]*)<`).exec(page)?.[1] ?? '').replaceAll(/&#(\d+);/g, (_all, point: string) =>
    String.fromCodePoint(Number(point)),
  );

it('the code that the console shows is the code of the guide, which its test runs', () => {
  assert.equal(protectTypeScript, fileBlockOf('docs/how-to/mcp-server.md', 'protect.ts'));
  assert.equal(protectPython, fileBlockOf('docs/how-to/mcp-server.md', 'protect.py'));
});

it('a line of scopes is wrong when its name is none', () => {
  for (const line of ['tools', 'notes:read Read your notes', 'a'.repeat(128)]) assert.equal(isScopeLineWrong(line), false, line);
  for (const line of ['"tools"', 'to\\ols', 'größe', 'a'.repeat(129)]) assert.equal(isScopeLineWrong(line), true, line);
});

for (const database of databases) {
  describe(`a new MCP server in the console on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const made = await createConsoleTenant(server);
      tenant = made.tenant;
      ({ visitor } = await openConsole(server, tenant, made.email));
    });
    after(() => server.close());

    const show = async (path: string): Promise<string> => textOf(await visitor.page(path), 200);
    const resourceAt = async (identifier: string): Promise<Json | undefined> => {
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/resources');
      return items.find((one) => one['identifier'] === identifier);
    };
    const signInAs = async (email: string, roles: readonly string[]): Promise<AppVisitor> => {
      await tenant.make('POST', '/users', { user_name: email, emails: [{ value: email, primary: true }], admin_roles: roles });
      return (await openConsole(server, tenant, email)).visitor;
    };

    it('asks for name, address and scopes, and is found from a new API', async () => {
      assert.match(await show('/resources/new'), /id="guided" href="[^"]*\/console\/resources\/mcp-server">An MCP server</);
      const asked = [...(await show(here)).matchAll(/<(?:input|textarea)[^>]* name="([a-z_]+)"/g)].map(([, name]) => name);
      assert.deepEqual([...new Set(asked.filter((name) => name !== 'csrf' && name !== 'q'))], ['name', 'identifier', 'scopes']);
    });

    it('a program that nobody registered gets a token for the server that was filled in, and for nothing else', async () => {
      const page = await visitor.act(here, { name: 'Notes', identifier: notes, scopes: '' });
      assert.match(page, /id="notice">Notes is registered\.</);
      const { id, ...resource } = (await resourceAt(notes))!;
      assert.deepEqual(
        [resource['name'], resource['clients'], resource['refresh'], resource['scopes']],
        ['Notes', 'any', true, [{ name: 'tools', description: 'Use its tools as you', is_default: true }]],
      );
      // The tenant lets no program register itself yet; the page says so, and offers it.
      assert.match(page, /id="needs-registration"/);
      const refused = await register(tenant, { redirect_uris: [loopbackUri] });
      assert.equal(refused.status, 404);
      const after = await visitor.act(`/resources/${String(id)}/start`, { set: 'registration' });
      assert.doesNotMatch(after, /id="needs-registration"/);
      assert.deepEqual((await tenant.make('GET', '/settings'))['extra_grants'], ['registration']);
      const registered = await register(tenant, { client_name: 'Agent', redirect_uris: [loopbackUri], token_endpoint_auth_method: 'none' });
      const { client_id: clientId } = (await registered.json()) as { client_id: string };
      await createTestUser(tenant, 'person@x.example', {});
      const tokens = await signIn(server, tenant, { client_id: clientId, resource: notes }, 'person@x.example');
      const { claims } = decodeJwt(tokens.access_token);
      assert.deepEqual([claims['aud'], claims['scope'], claims['iss']], [notes, 'tools', tenant.baseUrl]);
      const elsewhere = await authorize(tenant, { client_id: clientId, resource: tenant.managementApi });
      assert.match(String(elsewhere.headers.get('location')), /error=invalid_target/);
    });

    it('what the server grants before stays when registration is let in, and a second press changes nothing', async () => {
      const own = await createConsoleTenant(server);
      const other = (await openConsole(server, own.tenant, own.email)).visitor;
      await other.act(here, { name: 'Notes', identifier: notes, scopes: 'tools' });
      const { items } = await own.tenant.make<{ items: readonly Json[] }>('GET', '/resources');
      const device = 'urn:ietf:params:oauth:grant-type:device_code';
      await own.tenant.make('PATCH', '/settings', { extra_grants: [device] });
      for (const _press of [1, 2]) await other.act(`/resources/${String(items[0]!['id'])}/start`, { set: 'registration' });
      assert.deepEqual((await own.tenant.make('GET', '/settings'))['extra_grants'], [device, 'registration']);
    });

    it('scopes are a line each: the name and what people read; the first is given to a program that names none', async () => {
      const identifier = 'https://lines.example/mcp';
      await visitor.act(here, { name: 'Lines', identifier, scopes: 'notes:read Read your notes\n\n  notes:write   Change  them \nadmin' });
      assert.deepEqual((await resourceAt(identifier))!['scopes'], [
        { name: 'notes:read', description: 'Read your notes', is_default: true },
        { name: 'notes:write', description: 'Change  them' },
        { name: 'admin' },
      ]);
    });

    it('its page has the document to serve, the code, and how it is tried', async () => {
      const page = await show(`/resources/${String((await resourceAt(notes))!['id'])}/start`);
      assert.equal(shownIn(page, 'metadata-address'), 'https://notes.example/.well-known/oauth-protected-resource/mcp');
      assert.deepEqual(JSON.parse(shownIn(page, 'metadata')), {
        resource: notes,
        authorization_servers: [tenant.baseUrl],
        scopes_supported: ['tools', 'offline_access'],
      });
      assert.equal(shownIn(page, 'code-typescript'), protectTypeScript);
      assert.equal(shownIn(page, 'code-python'), protectPython);
      assert.equal(shownIn(page, 'use-typescript'), `const callerOf = protect("${tenant.baseUrl}", "${notes}", ["tools"]);`);
      assert.equal(shownIn(page, 'use-python'), `app = protect(app, "${tenant.baseUrl}", "${notes}", ["tools"])`);
      assert.match(shownIn(page, 'try-answer'), /^curl -si 'https:\/\/notes\.example\/mcp'$/);
      assert.match(shownIn(page, 'try-agent'), /^npx [^\n]*'https:\/\/notes\.example\/mcp'$/);
      assert.equal((await fetch(`${server.url}/docs/how-to/mcp-server`)).status, 200);
      assert.match(page, /href="\/docs\/how-to\/mcp-server"/);
    });

    it('the document of a bare origin is at the well-known path alone, and an address is quoted for the shell', async () => {
      await visitor.act(here, { name: 'Root', identifier: 'https://root.example/', scopes: '' });
      const root = await show(`/resources/${String((await resourceAt('https://root.example/'))!['id'])}/start`);
      assert.equal(shownIn(root, 'metadata-address'), 'https://root.example/.well-known/oauth-protected-resource');
      const sly = "https://sly.example/';touch$IFS/tmp/x;'";
      await visitor.act(here, { name: 'Sly', identifier: sly, scopes: '' });
      const page = await show(`/resources/${String((await resourceAt(sly))!['id'])}/start`);
      assert.equal(shownIn(page, 'try-answer'), `curl -si 'https://sly.example/'\\'';touch$IFS/tmp/x;'\\'''`);
    });

    it('an API that is listed, or has no address, says why no agent comes in', async () => {
      const { id: listed } = await tenant.make('POST', '/resources', { identifier: 'https://listed.example', name: 'Listed' });
      const page = await show(`/resources/${String(listed)}/start`);
      assert.match(page, new RegExp(`id="needs-any"[\\s\\S]*href="[^"]*/console/resources/${String(listed)}#field-clients"`));
      assert.match(page, new RegExp(`id="needs-scopes"[\\s\\S]*href="[^"]*/console/resources/${String(listed)}#field-scopes"`));
      assert.doesNotMatch(page, /id="try-agent"/);
      const { id: urn } = await tenant.make('POST', '/resources', { identifier: 'urn:example:api', name: 'Urn', clients: 'any' });
      assert.match(await show(`/resources/${String(urn)}/start`), /id="no-address"/);
      const missing = await visitor.page('/resources/00000000-0000-7000-8000-000000000000/start');
      assert.equal(missing.status, 404);
    });

    it('hosts that are trusted alone, and tokens that open UserInfo too, are said with the way there', async () => {
      const { id } = (await resourceAt(notes))!;
      const before = await show(`/resources/${String(id)}/start`);
      assert.doesNotMatch(before, /id="needs-(?:hosts|audience)"/);
      await tenant.make('PATCH', '/settings', { client_hosts: { only_trusted: true }, userinfo_with_resource: true });
      const page = await show(`/resources/${String(id)}/start`);
      assert.match(page, /id="needs-hosts"[\s\S]*href="[^"]*\/console\/settings#field-client_hosts-only_trusted"/);
      assert.match(page, /id="needs-audience"[\s\S]*href="[^"]*\/console\/settings#field-userinfo_with_resource"/);
      await tenant.make('PATCH', '/settings', { client_hosts: { only_trusted: false }, userinfo_with_resource: false });
    });

    it('what is wrong is said at its field, and what was typed stays', async () => {
      const refusedFor = async (fields: Json, id: string): Promise<string> => {
        const typed = { name: 'Kept', identifier: 'https://kept.example', scopes: '', ...fields };
        const page = await textOf(await visitor.submit(here, typed as Readonly<Record<string, string>>), 400);
        const name = /^field-(\w+)/.exec(id)![1]!;
        assert.ok(page.includes(`id="notice"`));
        assert.match(page, new RegExp(`name="${name}" id="${id}"[^>]*aria-invalid="true"`));
        return shownIn(page, `${id}-wrong`);
      };
      const address = 'must be an address that begins with https:// or http://, without user, query and fragment';
      for (const identifier of [
        '',
        'notes',
        'urn:example:api',
        'https://a.example/#x',
        'https://a.example/?b=c',
        'https://u:p@a.example',
        'ftp://a.example',
      ])
        assert.match(await refusedFor({ identifier }, 'field-identifier'), new RegExp(address), identifier);
      assert.equal(await refusedFor({ identifier: notes }, 'field-identifier'), 'The identifier is in use.');
      assert.equal(await refusedFor({ name: '' }, 'field-name'), 'This field must not have fewer than 1 characters.');
      assert.match(await refusedFor({ scopes: 'one\n"two"' }, 'field-scopes'), /^Line 2: /);
      assert.match(await refusedFor({ scopes: 'one\none' }, 'field-scopes'), /must hold each scope once/);
      const before = await tenant.make<{ items: readonly Json[] }>('GET', '/resources');
      for (const text of xssCorpus) {
        const page = await textOf(await visitor.submit(here, { name: text, identifier: text, scopes: text }), 400);
        assertEscaped(page, text);
      }
      assert.equal((await tenant.make<{ items: readonly Json[] }>('GET', '/resources')).items.length, before.items.length);
    });

    it('who may not register APIs sees no form, and a forged one makes nothing', async () => {
      const auditor = await signInAs('auditor@x.example', ['auditor']);
      const page = await textOf(await auditor.page(here), 403);
      assert.doesNotMatch(page, /name="identifier"/);
      assert.doesNotMatch(await textOf(await auditor.page('/resources'), 200), /mcp-server/);
      await textOf(await auditor.submit(here, { name: 'Forged', identifier: 'https://forged.example', scopes: '' }), 403);
      assert.equal(await resourceAt('https://forged.example'), undefined);
    });

    it('who may not change the sign-in is told what is missing, without a button, and a forged one changes nothing', async () => {
      const roles = { name: 'apis', description: 'APIs', capabilities: ['resources:read', 'resources:write'] };
      await tenant.make('POST', '/roles', roles);
      await tenant.make('PATCH', '/settings', { extra_grants: [] });
      const person = await signInAs('apis@x.example', ['apis']);
      const page = await person.act(here, { name: 'Theirs', identifier: 'https://theirs.example/mcp', scopes: '' });
      assert.match(page, /id="needs-registration"[\s\S]*sign-in:write/);
      assert.doesNotMatch(page, /id="set-registration"/);
      const { id } = (await resourceAt('https://theirs.example/mcp'))!;
      await textOf(await person.submit(`/resources/${String(id)}/start`, { set: 'registration' }), 403);
      assert.deepEqual((await tenant.make('GET', '/settings'))['extra_grants'], []);
    });
  });
}
