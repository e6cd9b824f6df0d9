// The wizard of machines (design 18, 3): a platform, the few values that name a program there, and what it may do; then what is written on the
// platform. What is made works: the platform's token alone gets a token, and nothing is shown as a secret.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SignJWT } from 'jose';
import { workloadsPerClientMax } from '../../src/contract/limits.ts';
import { presetNames, workloadPresets } from '../../src/domain/client/workload-presets.ts';
import { capabilitiesOfTenant } from '../../src/domain/people/capabilities.ts';
import { textOf } from '../support/account.ts';
import { type KeyPair, makeKeyPair } from '../support/client-credentials.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { callJson, type Json, type Managed } from '../support/management.ts';
import { decodeJwt } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertEscaped, xssCorpus } from '../support/xss.ts';

const here = '/clients/machine';
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const orders = 'https://orders.example';
const shownIn = (page: string, id: string): string =>
  (new RegExp(`id="${id}">([^<]*)<`).exec(page)?.[1] ?? '').replaceAll(/&#(\d+);/g, (_all, point: string) =>
    String.fromCodePoint(Number(point)),
  );

for (const database of databases) {
  describe(`machines in the console on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    let key: KeyPair;
    before(async () => {
      server = await startTestServer(database);
      const made = await createConsoleTenant(server);
      tenant = made.tenant;
      ({ visitor } = await openConsole(server, tenant, made.email));
      await tenant.make('POST', '/resources', { identifier: orders, name: 'Orders', scopes: [{ name: 'orders:read' }] });
      key = makeKeyPair('RS256');
    });
    after(() => server.close());

    const show = async (path: string): Promise<string> => textOf(await visitor.page(path), 200);
    const listed = async (path: string): Promise<readonly Json[]> => (await tenant.make<{ items: readonly Json[] }>('GET', path)).items;
    const named = async (name: string): Promise<Json> => (await listed(`/clients?search=${encodeURIComponent(name)}`))[0]!;
    const signInAs = async (email: string, roles: readonly string[]): Promise<AppVisitor> => {
      await tenant.make('POST', '/users', { user_name: email, emails: [{ value: email, primary: true }], admin_roles: roles });
      return (await openConsole(server, tenant, email)).visitor;
    };
    const create = (platform: string, fields: Readonly<Record<string, string>>): Promise<string> =>
      visitor.act(`${here}?platform=${platform}`, { resource: tenant.managementApi, scopes: '', ...fields });
    const tokenOf = (issuer: unknown, claims: Json): Promise<string> => {
      const seconds = Math.floor(server.clock.nowMs() / 1000);
      return new SignJWT({ iss: String(issuer), ...claims })
        .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT' })
        .setAudience(tenant.baseUrl)
        .setIssuedAt(seconds)
        .setExpirationTime(seconds + 300)
        .sign(key.key);
    };
    const post = (form: Readonly<Record<string, string>>): Promise<Response> =>
      fetch(`${tenant.baseUrl}/v1/idp/oidc/token`, { method: 'POST', body: new URLSearchParams(form) });

    it('is found from a new application, offers every platform, and asks for the values of one alone', async () => {
      assert.match(await show('/clients/new'), /id="kind-platform" href="[^"]*\/console\/clients\/machine">/);
      assert.match(await show('/clients/new?kind=machine'), /href="[^"]*\/console\/clients\/machine"/);
      const page = await show(here);
      assert.deepEqual(
        [...page.matchAll(/id="platform-(\w+)"/g)].map(([, name]) => name),
        [...presetNames, 'key'],
      );
      for (const name of presetNames) {
        const form = await show(`${here}?platform=${name}`);
        const asked = [...form.matchAll(/<(?:input|textarea|select)[^>]* name="([a-z_]+)"/g)].map(([, one]) => one);
        assert.deepEqual(
          [...new Set(asked.filter((one) => one !== 'csrf' && one !== 'q'))],
          ['name', ...Object.keys(workloadPresets[name].asks), 'resource', 'scopes'],
          name,
        );
      }
      assert.match(
        await show(`${here}?platform=github`),
        /name="issuer" id="field-issuer" value="https:\/\/token\.actions\.githubusercontent\.com"/,
      );
      assert.match(await show(`${here}?platform=__proto__`), /id="platform-github"/);
    });

    it('a job of the platform gets a token of the Management API by what was filled in, with the snippet there', async () => {
      const page = await create('gitlab', {
        name: 'Deploy',
        project_id: '22',
        ref_protected: 'true',
        issuer: 'https://gitlab.example',
        scopes: 'clients:read',
      });
      const client = await named('Deploy');
      assert.deepEqual(
        [client['type'], client['token_endpoint_auth_method'], client['grant_types'], client['scopes'], client['resources']],
        ['confidential', 'federated_jwt', ['client_credentials'], ['clients:read'], [tenant.managementApi]],
      );
      assert.deepEqual(client['workloads'], [{ issuer: 'https://gitlab.example', claims: { project_id: '22', ref_protected: 'true' } }]);
      const [issuer] = await listed('/workload-issuers');
      assert.deepEqual([issuer!['name'], issuer!['issuer'], issuer!['keys']], ['GitLab CI', 'https://gitlab.example', { discovery: true }]);
      assert.match(page, /id="notice">The application Deploy was created\.</);
      assert.doesNotMatch(page, /CLIENT_SECRET|secret was shown/);
      const snippet = shownIn(page, 'snippet-0-0');
      assert.ok(snippet.includes(`aud: "${tenant.baseUrl}"`) && snippet.includes(`client_id=${String(client['client_id'])}`), snippet);
      assert.match(page, /href="\/docs\/how-to\/deploy-without-secrets"/);
      await tenant.make('PATCH', `/workload-issuers/${String(issuer!['id'])}`, { keys: { jwks: { keys: [key.publicJwk] } } });
      const assertion = await tokenOf('https://gitlab.example', { sub: 'job', project_id: '22', ref_protected: 'true' });
      const answer = await post({
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: assertion,
      });
      const { access_token: token } = (await answer.json()) as { access_token: string };
      assert.equal((await callJson(`${tenant.baseUrl}/v1/management/clients`, token, 'GET')).status, 200);
      assert.equal((await callJson(`${tenant.baseUrl}/v1/management/users`, token, 'GET')).status, 403);
    });

    it('everything there is, for a job that applies documents: offered to whoever holds it', async () => {
      const owner = await signInAs('owner@x.example', ['owner']);
      assert.match(await textOf(await owner.page(`${here}?platform=google`), 200), /name="everything"/);
      await owner.act(`${here}?platform=google`, {
        ...{ name: 'Owner', service_account: '1122', everything: 'on' },
        ...{ resource: tenant.managementApi, scopes: '' },
      });
      assert.deepEqual((await named('Owner'))['scopes'], capabilitiesOfTenant(tenant));
      const elsewhere = { name: 'Owner 2', service_account: '1122', everything: 'on', resource: orders, scopes: '' };
      const page = await textOf(await owner.submit(`${here}?platform=google`, elsewhere), 400);
      assert.equal(shownIn(page, 'field-everything-wrong'), 'is of the Management API and SCIM alone');
      await visitor.act(`${here}?platform=google`, { ...elsewhere, resource: tenant.managementApi, name: 'Nobody' });
      assert.deepEqual((await named('Nobody'))['scopes'], []); // an administrator who is none is not asked
    });

    it('an API of one’s own: the grant by assertion, its scopes alone, and what the tenant lacks for it', async () => {
      const jwks = JSON.stringify({ keys: [key.publicJwk] });
      const values = { name: 'Count', issuer: 'https://cluster.example', namespace: 'shop', service_account: 'count', jwks_uri: '', jwks };
      const page = await create('kubernetes', { ...values, resource: orders, scopes: 'orders:read' });
      const { client_id: id, ...client } = await named('Count');
      assert.deepEqual([client['grant_types'], client['resources'], client['scopes']], [[jwtBearer], [orders], ['orders:read']]);
      assert.match(shownIn(page, 'snippet-0-1'), /assertion=\$platform_token/);
      assert.match(page, /id="needs-grant"/);
      const after = await visitor.act(`/clients/${String(id)}/start`, { set: jwtBearer });
      assert.doesNotMatch(after, /id="needs-grant"/);
      assert.deepEqual((await tenant.make('GET', '/settings'))['extra_grants'], [jwtBearer]);
      const assertion = await tokenOf('https://cluster.example', { sub: 'system:serviceaccount:shop:count' });
      const answer = await post({ grant_type: jwtBearer, assertion });
      const { claims } = decodeJwt(((await answer.json()) as { access_token: string }).access_token);
      assert.deepEqual([claims['aud'], claims['scope'], claims['sub']], [orders, 'orders:read', id]);
    });

    it('a key of its own: the client that signs with it, without a platform', async () => {
      const page = await create('key', {
        name: 'Own key',
        jwks: JSON.stringify(key.publicJwk),
        jwks_uri: '',
        resource: orders,
        scopes: 'orders:read',
      });
      const client = await named('Own key');
      assert.deepEqual(
        [client['token_endpoint_auth_method'], client['grant_types'], client['resources'], client['workloads']],
        ['private_key_jwt', [jwtBearer], [orders], []],
      );
      assert.deepEqual(client['jwks'], { keys: [key.publicJwk] });
      assert.match(page, /href="\/docs\/how-to\/machines"/);
      assert.doesNotMatch(page, /CLIENT_SECRET/);
    });

    it('an issuer that is there serves again; a disabled one, or one with other keys, is told and not taken', async () => {
      const values = { namespace: 'shop', service_account: 'again', jwks_uri: '', jwks: '' };
      const issuer = 'https://again.example';
      await create('kubernetes', { name: 'First', issuer, ...values });
      await create('kubernetes', { name: 'Second', issuer, ...values });
      const found = (await listed('/workload-issuers?search=again.example'))!;
      assert.equal(found.length, 1);
      const id = String(found[0]!['id']);
      const refused = async (pattern: RegExp): Promise<void> => {
        const fields = { name: 'Third', issuer, resource: tenant.managementApi, scopes: '', ...values };
        assert.match(shownIn(await textOf(await visitor.submit(`${here}?platform=kubernetes`, fields), 400), 'notice'), pattern);
      };
      await tenant.make('PATCH', `/workload-issuers/${id}`, { enabled: false });
      await refused(/The workload issuer https:\/\/again\.example was expected to be enabled, found it disabled\./);
      await tenant.make('PATCH', `/workload-issuers/${id}`, { enabled: true, keys: { jwks_uri: 'https://other.example/keys' } });
      await refused(/with the keys \{"discovery":true\}, found \{"jwks_uri":/);
      assert.equal((await listed('/clients?search=Third')).length, 0);
    });

    it('what is wrong is said at its field, what was typed stays, and nothing is made', async () => {
      // When one was last used is written a moment after its token.
      const clients = async () => (await listed('/clients?limit=200')).map(({ last_used_at: _at, ...client }) => client);
      const before = [await clients(), await listed('/workload-issuers')];
      const github = { name: 'Wrong', repository_id: '74', environment: 'x', ref: '', issuer: 'https://wrong.example' };
      const refusedFor = async (platform: string, fields: Json, name: string, pattern: RegExp): Promise<void> => {
        const typed = { resource: tenant.managementApi, scopes: '', ...fields };
        const page = await textOf(await visitor.submit(`${here}?platform=${platform}`, typed as Readonly<Record<string, string>>), 400);
        assert.match(page, new RegExp(`id="field-${name}"[^>]*aria-`), name);
        assert.match(shownIn(page, `field-${name}-wrong`), pattern);
      };
      await refusedFor('github', { ...github, repository_id: 'acme/shop' }, 'repository_id', /the number of the repository/);
      await refusedFor('github', { ...github, repository_id: '' }, 'repository_id', /the number of the repository/);
      await refusedFor('github', { ...github, environment: '' }, 'environment', /Environment or Ref/);
      await refusedFor('github', { ...github, ref: 'main' }, 'ref', /the branch or tag/);
      await refusedFor('github', { ...github, issuer: 'http://wrong.example' }, 'issuer', /https/);
      await refusedFor('github', { ...github, name: '' }, 'name', /is required/);
      await refusedFor(
        'github',
        { ...github, resource: orders, scopes: 'orders:read users:read' },
        'scopes',
        /users:read is no scope of Orders/,
      );
      await refusedFor('github', { ...github, resource: 'https://other.example' }, 'resource', /one of those/);
      const cluster = { name: 'Wrong', issuer: 'https://wrong.example', namespace: 'a', service_account: 'b', jwks_uri: '' };
      await refusedFor('kubernetes', { ...cluster, jwks: '{' }, 'jwks', /not the whole file/);
      for (const jwks of ['{"keys": 7}', '"text"', '7', '[]', 'true']) await refusedFor('kubernetes', { ...cluster, jwks }, 'jwks', /./);
      await refusedFor('kubernetes', { ...cluster, namespace: 'a_b', jwks: '' }, 'namespace', /of the pod/i);
      await refusedFor('key', { name: 'Wrong', jwks: '', jwks_uri: '' }, 'jwks', /Its keys or Address of its keys/);
      for (const text of xssCorpus) {
        const page = await visitor.submit(`${here}?platform=github`, {
          ...github,
          name: text,
          repository_id: text,
          resource: text,
          scopes: text,
        });
        assertEscaped(await textOf(page, 400), text);
      }
      assert.deepEqual([await clients(), await listed('/workload-issuers')], before);
    });

    it('the page of a client made by the API tells each of its platforms, and of another what it is known by', async () => {
      const workloads = [
        { issuer: 'https://cluster.example', subject: 'system:serviceaccount:shop:</pre><script>' },
        { issuer: 'https://token.actions.githubusercontent.com', claims: { repository_id: '7', ref: "refs/heads/'$(id)" } },
        ...Array.from({ length: workloadsPerClientMax - 2 }, (_, at) => ({ issuer: `https://ci-${at}.example`, subject: 'job' })),
      ];
      const made = { name: 'By API', token_endpoint_auth_method: 'federated_jwt', grant_types: ['client_credentials'], workloads };
      const { client_id: id } = await tenant.make('POST', '/clients', made);
      const page = await show(`/clients/${String(id)}/start`);
      assert.match(page, /<\/code>[^<]*<code>\{&#34;issuer&#34;|system:serviceaccount:shop:&#60;\/pre/);
      assert.ok(shownIn(page, 'snippet-1-0').includes('permissions:'));
      assert.equal(shownIn(page, 'snippet-0-0'), '');
      assert.match(page, /id="issuer-1-missing"/);
    });

    it('with as many platforms as a client may have the page is no larger than others', async () => {
      const claims = (at: number): Json => ({ repository_id: `${100 + at}`, environment: 'production' });
      const issuer = 'https://token.actions.githubusercontent.com';
      const workloads = Array.from({ length: workloadsPerClientMax }, (_, at) => ({ issuer, claims: claims(at) }));
      const made = { name: 'Many', token_endpoint_auth_method: 'federated_jwt', grant_types: ['client_credentials'], workloads };
      const { client_id: id } = await tenant.make('POST', '/clients', made);
      const page = await show(`/clients/${String(id)}/start`);
      assert.ok(page.includes(`id="snippet-${workloadsPerClientMax - 1}-0"`));
      assert.ok(Buffer.byteLength(page) < 60_000, String(Buffer.byteLength(page)));
    });

    it('who may not register applications sees no form, and a forged one makes nothing; capabilities one lacks are refused', async () => {
      const auditor = await signInAs('auditor@x.example', ['auditor']);
      await textOf(await auditor.page(here), 403);
      const fields = {
        name: 'Forged',
        project_id: '1',
        ref_protected: 'true',
        issuer: 'https://forged.example',
        resource: tenant.managementApi,
      };
      await textOf(await auditor.submit(`${here}?platform=gitlab`, { ...fields, scopes: '' }), 403);
      await tenant.make('POST', '/roles', { name: 'apps', description: 'Applications', capabilities: ['clients:read', 'clients:write'] });
      const person = await signInAs('apps@x.example', ['apps']);
      assert.doesNotMatch(await textOf(await person.page(`${here}?platform=gitlab`), 200), /Orders|name="everything"/);
      const refused = await person.submit(`${here}?platform=gitlab`, { ...fields, scopes: 'users:read' });
      assert.ok(refused.status === 400 || refused.status === 403, String(refused.status));
      assert.equal((await listed('/clients?search=Forged')).length, 0);
      const page = await person.act(`${here}?platform=gitlab`, { ...fields, scopes: 'clients:read' });
      assert.match(page, /id="snippet-0-0"/);
    });
  });
}
