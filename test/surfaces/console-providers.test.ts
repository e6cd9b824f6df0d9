// Other providers in the console (design 23, part 3): one is chosen by what it is and asks only for what it needs, its callback address
// first; whoever made it signs in by it and sees what it says, and only then people see its button. Nobody is signed in, made or linked.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openBrowser } from '../support/browser.ts';
import { reachesLoopback } from '../support/ciba.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import type { Managed } from '../support/management.ts';
import { buildResponse, idpMetadata, readAsked, signElement } from '../support/saml-upstream.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startUpstream, type TestUpstream } from '../support/upstream.ts';

type Json = Readonly<Record<string, unknown>>;
const noticeOf = (page: string): string => /id="notice">([^<]*)</.exec(page)?.[1] ?? '';
const goOn = (page: string): string => (/id="go-on" href="([^"]+)"/.exec(page)?.[1] ?? '').replaceAll('&#38;', '&');
const ada = { sub: 'ada-1', email: 'ada@acme.example', email_verified: true, department: 'Engines <b>' };

for (const database of databases) {
  describe(`other providers in the console on ${database}`, () => {
    let server: TestServer;
    let upstream: TestUpstream;
    let tenant: Managed;
    let email: string;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database, { flags: reachesLoopback });
      ({ tenant, email } = await createConsoleTenant(server));
      ({ visitor } = await openConsole(server, tenant, email));
      upstream = await startUpstream(server.clock.nowMs);
    });
    after(async () => {
      await upstream.close();
      await server.close();
    });

    const show = async (path: string, status = 200): Promise<string> => {
      const response = await visitor.page(path);
      assert.equal(response.status, status, path);
      return response.text();
    };
    const made = async (changes: Readonly<Record<string, string>> = {}): Promise<string> => {
      const form = await show('/identity-providers/new?preset=oidc');
      const alias = /name="alias" value="([^"]+)"/.exec(form)?.[1] ?? '';
      assert.ok(form.includes(`<pre id="callback">${tenant.baseUrl}/login/callback/${alias}</pre>`));
      const response = await visitor.submit('/identity-providers/new?preset=oidc', {
        alias,
        name: 'Acme',
        issuer: upstream.issuer,
        client_id: 'gatehouse',
        client_secret: 'secret-of-gatehouse-at-acme-0123456789',
        trust_email: 'on',
        ...changes,
      });
      assert.equal(response.status, 303, noticeOf(await response.text()));
      return /identity-providers\/([^/]+)\/try$/.exec(response.headers.get('location') ?? '')?.[1] ?? '';
    };
    const provider = (id: string): Promise<Json> => tenant.make('GET', `/identity-providers/${id}`);
    const buttons = async (): Promise<string> => {
      const client = await tenant.make('POST', '/clients', {
        name: 'Shop',
        redirect_uris: ['https://shop.example/cb'],
        scopes: ['openid'],
      });
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: String(client['client_id']),
        redirect_uri: 'https://shop.example/cb',
        scope: 'openid',
        state: 'state-1',
        nonce: 'nonce-1',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      });
      const browser = openBrowser();
      const started = await browser.send(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`);
      assert.equal(started.status, 303, await started.text());
      return (await browser.send(started.headers.get('location') ?? '', { headers: { accept: 'text/html' } })).text();
    };
    /** Leaves for the provider; gives the address there. */
    const leave = async (id: string): Promise<string> => {
      const response = await visitor.submit(`/identity-providers/${id}/try`, {});
      const page = await response.text();
      assert.equal(response.status, 200, noticeOf(page));
      return goOn(page);
    };
    /** What the callback answers to a browser without cookies of the console: where the answer is fetched. */
    const comeBack = async (callback: URL): Promise<string> => {
      const response = await fetch(callback, { redirect: 'manual' });
      return response.headers.get('location') ?? `status ${response.status}`;
    };
    const below = (location: string): string => location.replace(`${tenant.baseUrl}/console`, '');

    it('the choice has five kinds, each asks for its own fields alone, its callback address first', async () => {
      const choice = await show('/identity-providers/new');
      for (const name of ['Google', 'Microsoft', 'GitHub', 'Any OpenID provider', 'Any SAML provider'])
        assert.ok(choice.includes(name), name);
      const asked = async (preset: string): Promise<readonly string[]> =>
        [
          ...(await show(`/identity-providers/new?preset=${preset}`)).matchAll(
            /<(?:input type="(?:text|password|checkbox)"|textarea|select) name="([a-z_.]+)"/g,
          ),
        ].map(([, name]) => name!);
      const common = ['trust_email', 'create_users'];
      assert.deepEqual(await asked('google'), ['name', 'client_id', 'client_secret', ...common]);
      assert.deepEqual(await asked('microsoft'), ['name', 'client_id', 'client_secret', 'tenants', ...common]);
      assert.deepEqual(await asked('github'), ['name', 'client_id', 'client_secret', ...common]);
      assert.deepEqual(await asked('oidc'), ['name', 'issuer', 'client_id', 'client_secret', ...common]);
      assert.deepEqual(await asked('saml'), ['name', 'metadata', ...common]);
      const page = await show('/identity-providers/new?preset=google');
      assert.ok(page.indexOf('/login/callback/google') < page.indexOf('name="client_id"'));
    });

    it('made by the wizard people do not see it; tried, it says what it says; shown, they do; a reload keeps the result', async () => {
      const id = await made();
      assert.equal((await provider(id))['enabled'], false);
      assert.doesNotMatch(await buttons(), /Acme/);
      const page = await show(`/identity-providers/${id}/try`);
      assert.match(page, /People do not see Acme yet/);
      assert.match(page, /Show it without trying/);
      const people = async (): Promise<unknown> => (await tenant.make('GET', '/users')) as Json;
      const before = await people();
      const location = await comeBack(upstream.signIn(await leave(id), ada));
      const returned = await visitor.page(below(location));
      assert.equal(returned.status, 303);
      assert.ok(!(returned.headers.get('location') ?? '').includes('answer'));
      for (let time = 0; time < 2; time += 1) {
        const shown = await show(`/identity-providers/${id}/try`);
        assert.match(shown, /<code>ada-1<\/code>/);
        assert.match(shown, /<code>department<\/code><\/td><td data-label="Value">Engines &#60;b&#62;/);
        assert.match(shown, /Show it to people/);
      }
      assert.deepEqual(await people(), before);
      assert.equal((await tenant.make<{ items: readonly Json[] }>('GET', `/identity-providers?limit=200`)).items.length, 1);
      // An answer works once, and another session has nothing of it.
      assert.equal((await visitor.page(below(location))).status, 303);
      assert.match(await show(`/identity-providers/${id}/try`), /answer_used_expired_or_of_another_browser/);
      await visitor.act(`/identity-providers/${id}/show`, {});
      assert.equal((await provider(id))['enabled'], true);
      assert.match(await buttons(), /Acme/);
      assert.match(await show(`/identity-providers/${id}/try`), /is on the sign-in page/);
      await tenant.make('DELETE', `/identity-providers/${id}`);
    });

    it('an answer is shown in the session that asked, and to nobody else', async () => {
      const id = await made();
      const location = await comeBack(upstream.signIn(await leave(id), ada));
      await server.clock.advance(61_000);
      const { visitor: other } = await openConsole(server, tenant, email);
      assert.equal((await other.page(below(location))).status, 303);
      const page = await (await other.page(`/identity-providers/${id}/try`)).text();
      assert.match(page, /of_another_session/);
      assert.doesNotMatch(page, /ada-1/);
      await tenant.make('DELETE', `/identity-providers/${id}`);
    });

    it('one that is not shown signs nobody in: its callback is unknown but to who tries it', async () => {
      const id = await made();
      const forged = new URL(`${tenant.baseUrl}/login/callback/oidc?state=none&code=x`);
      assert.equal(await comeBack(forged), 'status 404');
      forged.search = '';
      assert.equal(await comeBack(forged), 'status 404');
      await tenant.make('DELETE', `/identity-providers/${id}`);
    });

    it('what is refused there, or does not answer, is told at once with what to change', async () => {
      const wrong = await made({ issuer: 'https://127.0.0.1:1' });
      const page = await show(`/identity-providers/${wrong}/try`);
      assert.match(
        page,
        /id="does-not-answer".*It does not answer at <code>https:\/\/127\.0\.0\.1:1<\/code>\. The host could not be reached\./,
      );
      assert.doesNotMatch(page, /id="try"/);
      assert.match(page, /name="issuer" id="field-issuer" value="https:\/\/127\.0\.0\.1:1"/);
      const id = await made();
      upstream.lie({ tokenStatus: 401 });
      const failed = await comeBack(upstream.signIn(await leave(id), ada));
      await visitor.page(below(failed));
      upstream.lie({});
      assert.match(await show(`/identity-providers/${id}/try`), /id="failed"[^>]*>It came to nothing\. [^<]*client secret/);
      const bad = await visitor.submit('/identity-providers/new?preset=oidc', {
        alias: 'bad',
        name: 'Bad',
        issuer: 'http://plain.example',
        client_id: 'x',
      });
      assert.equal(bad.status, 400);
      assert.match(await bad.text(), /id="field-issuer-wrong"/);
      for (const made of [wrong, id]) await tenant.make('DELETE', `/identity-providers/${made}`);
    });

    it('an issuer nobody can reach is changed where that is said, and says what else has to change', async () => {
      const id = await made({ issuer: 'https://10.1.2.3' });
      const at = `/identity-providers/${id}/try`;
      assert.match(await show(at), /The address is not public\. The operator of this server can allow it \(GATEHOUSE_EGRESS_ALLOW\)/);
      const move = async (issuer: string, status = 303): Promise<string> => {
        const response = await visitor.submit(`${at}/issuer`, { issuer, client_secret: 'secret-of-gatehouse-at-acme-0123456789' });
        assert.equal(response.status, status, response.status === 400 ? noticeOf(await response.clone().text()) : '');
        return status === 303 ? show(at) : response.text();
      };
      assert.match(await move('not an address', 400), /value="not an address"[^>]* aria-invalid="true"/);
      assert.equal((await provider(id))['issuer'], 'https://10.1.2.3');
      assert.match(await move(`${upstream.origin}/elsewhere`), /not with the discovery document of this issuer/);
      assert.match(await move(upstream.issuer), /id="try"/);
      assert.doesNotMatch(await show(at), /id="does-not-answer"/);
      await tenant.make('DELETE', `/identity-providers/${id}`);
    });

    it('one that speaks SAML: its answer comes by form post, and our metadata is there before it is shown', async () => {
      const response = await visitor.submit('/identity-providers/new?preset=saml', {
        alias: 'corp',
        name: 'Corp',
        metadata: await idpMetadata(),
      });
      assert.equal(response.status, 303, noticeOf(await response.text()));
      const id = /identity-providers\/([^/]+)\/try$/.exec(response.headers.get('location') ?? '')?.[1] ?? '';
      const callback = `${tenant.baseUrl}/login/callback/corp`;
      assert.equal((await fetch(`${callback}/metadata`)).status, 200);
      const asked = readAsked(await leave(id));
      const xml = signElement(buildResponse(asked, server.clock.nowMs(), { nameId: 'grace-1' }), 'Assertion');
      const posted = await fetch(callback, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ SAMLResponse: Buffer.from(xml).toString('base64'), RelayState: asked.relayState }),
      });
      assert.equal(posted.status, 303);
      await visitor.page(below(posted.headers.get('location') ?? ''));
      assert.match(await show(`/identity-providers/${id}/try`), /<code>grace-1<\/code>/);
      await tenant.make('DELETE', `/identity-providers/${id}`);
    });

    it('who may not change providers sees no button and tries nothing', async () => {
      const id = await made();
      const reader = `auditor@${tenant.slug}.example`;
      const { id: person } = await tenant.make('POST', '/users', { user_name: reader, emails: [{ value: reader, primary: true }] });
      await tenant.make('PUT', `/users/${String(person)}/roles`, { roles: ['auditor'] });
      const { visitor: auditor } = await openConsole(server, tenant, reader);
      const page = await (await auditor.page(`/identity-providers/${id}/try`)).text();
      assert.doesNotMatch(page, /id="try"|id="show"/);
      assert.equal((await auditor.submit(`/identity-providers/${id}/try`, {})).status, 303);
      assert.equal((await auditor.page('/identity-providers/new')).status, 403);
      assert.equal((await auditor.submit(`/identity-providers/${id}/show`, {})).status, 400);
      assert.equal((await auditor.submit(`/identity-providers/${id}/try/issuer`, { issuer: 'https://other.example' })).status, 400);
      assert.equal((await provider(id))['issuer'], upstream.issuer);
      assert.equal((await provider(id))['enabled'], false);
      await tenant.make('DELETE', `/identity-providers/${id}`);
    });
  });
}
