// Contract 7.4: pushed authorization requests, each row by each trigger the contract and the design name.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { RowId } from '../../src/contract/catalogue.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { authorizationParameters } from '../../src/oidc/authorize/authorization-parameters.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, rootTenant, type TestClient } from '../support/fixtures.ts';
import { challenge, type Form, formBody, postAs, redirectUri } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`7.4 pushed authorization requests on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let client: TestClient;
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      tenant = await rootTenant(services);
      client = await createClient(services, tenant, { resources: ['https://api.example'], requirePar: true });
    });
    after(() => server.close());

    const valid: Form = {
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: 'openid profile',
      state: 'state-1',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    };
    const push = (changes: Form = {}, by = client): Promise<Response> => postAs(tenant, by, 'par', { ...valid, ...changes });
    const pushWithout = (changes: Form): Promise<Response> =>
      fetch(`${tenant.baseUrl}/v1/idp/oidc/par`, { method: 'POST', body: formBody({ ...valid, ...changes }) });
    const open = (requestUri: string, by = client): Promise<Response> => {
      const query = formBody({ client_id: by.clientId, request_uri: requestUri });
      return fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' });
    };

    it('201 with a request_uri, its lifetime in seconds and no-store', async () => {
      const response = await push();
      assert.equal(response.status, 201);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
      const body = (await response.json()) as { request_uri: string; expires_in: number };
      assert.deepEqual(Object.keys(body), ['request_uri', 'expires_in']);
      assert.match(body.request_uri, /^urn:ietf:params:oauth:request_uri:[A-Za-z0-9_-]{43}$/);
      assert.equal(body.expires_in, 60);
    });
    it('what was pushed is what is asked: parameters beside request_uri change nothing', async () => {
      const { request_uri: requestUri } = (await (await push()).json()) as { request_uri: string };
      const query = formBody({
        client_id: client.clientId,
        request_uri: requestUri,
        redirect_uri: 'https://evil.example/',
        scope: 'admin',
      });
      const response = await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' });
      assert.equal(response.status, 303);
      const id = new URL(response.headers.get('location') ?? '').pathname.split('/').at(-1);
      const row = await services.database.read(tenant.id, (queries) =>
        queries
          .selectFrom('login_transactions')
          .select(['redirect_uri', 'scope', 'request_state'])
          .where('id', '=', id as never)
          .executeTakeFirst(),
      );
      assert.deepEqual({ ...row }, { redirect_uri: redirectUri, scope: 'openid profile', request_state: 'state-1' });
    });
    it('a request that is refused at authorize is not used up', async () => {
      const { request_uri: requestUri } = (await (await push({ prompt: 'none' })).json()) as { request_uri: string };
      for (const time of ['first', 'second'])
        assert.match((await open(requestUri)).headers.get('location') ?? '', /error=login_required/, `${time} time`);
    });
    it('public clients push with their client_id alone', async () => {
      const spa = await createClient(services, tenant, { type: 'public' });
      assert.equal((await push({}, spa)).status, 201);
    });

    const wrong: readonly (readonly [string, RowId, Form, string])[] = [
      ['response_type token', 'par.unsupported_response_type', { response_type: 'token' }, 'The only response_type is code.'],
      ['response_type missing', 'par.unsupported_response_type', { response_type: undefined }, 'response_type is required.'],
      [
        'redirect_uri not on the allow-list',
        'par.invalid_request',
        { redirect_uri: `${redirectUri}2` },
        'redirect_uri is not registered for this client.',
      ],
      ['redirect_uri missing', 'par.invalid_request', { redirect_uri: undefined }, 'redirect_uri is required.'],
      ['request_uri pushed', 'par.invalid_request', { request_uri: 'urn:x' }, 'request_uri cannot be pushed.'],
      ['request object', 'par.invalid_request', { request: 'e30.e30.' }, 'Request objects are not supported.'],
      ['authorization_details', 'par.invalid_request', { authorization_details: '[]' }, 'authorization_details are not supported.'],
      ['state too long', 'par.invalid_request', { state: 's'.repeat(4097) }, 'state is too long.'],
      [
        'resource not allowed',
        'par.invalid_target',
        { resource: 'https://other.example' },
        'The requested audience is not available to this client.',
      ],
      ['scope not bound', 'par.invalid_scope', { scope: 'openid admin' }, 'A scope is not bound to this client.'],
      ['code_challenge missing', 'par.pkce', { code_challenge: undefined }, 'code_challenge is required.'],
      ['code_challenge_method plain', 'par.pkce', { code_challenge_method: 'plain' }, 'The only code_challenge_method is S256.'],
      ['code_challenge_method missing', 'par.pkce', { code_challenge_method: undefined }, 'The only code_challenge_method is S256.'],
    ];
    for (const [name, row, changes, text] of wrong)
      it(`${row}: ${name}`, async () => {
        await assertRefusal(await push(changes), row, { text });
      });
    it('par.invalid_target: more than one resource', async () => {
      const form = formBody(valid);
      form.append('resource', 'https://api.example');
      form.append('resource', 'https://other.example');
      await assertRefusal(await postAs(tenant, client, 'par', form), 'par.invalid_target', {
        text: 'The requested audience is not available to this client.',
      });
    });
    it('par.unauthorized_client: the client may not use the code grant', async () => {
      const machine = await createClient(services, tenant, { grantTypes: ['client_credentials'] });
      await assertRefusal(await push({}, machine), 'par.unauthorized_client', { text: 'This client may not use this grant.' });
    });
    it('par.invalid_request: an unknown, foreign or disabled client without a credential is one answer', async () => {
      const other = await createOtherTenant(services, `foreign-${database}`);
      const foreign = await createClient(services, other);
      const disabled = await createClient(services, tenant, { type: 'public', enabled: false });
      const bodies = new Set<string>();
      for (const clientId of ['unknown', foreign.clientId, disabled.clientId])
        bodies.add(
          await assertRefusal(await pushWithout({ client_id: clientId }), 'par.invalid_request', { text: 'The client is unknown.' }),
        );
      assert.equal(bodies.size, 1);
    });
    it('client.invalid_client: with a credential everything is client authentication', async () => {
      const stranger = { ...client, secret: 'wrong' };
      const unknown = { ...client, clientId: 'unknown' as typeof client.clientId };
      const bodies = new Set<string>();
      const answers = [
        await push({}, stranger),
        await push({}, unknown),
        await push({ client_id: 'another' }),
        await pushWithout({}),
        await pushWithout({ client_id: client.clientId }),
      ];
      for (const answer of answers) bodies.add(await assertRefusal(answer, 'client.invalid_client'));
      assert.equal(bodies.size, 1);
    });
    it('7.19 oauth.rate_limited: public clients of an address push sixty a minute, confidential ones as many as they like', async () => {
      const limited = await createOtherTenant(services, `limited-${database}`);
      const spa = await createClient(services, limited, { type: 'public' });
      const app = await createClient(services, limited);
      const pushBy = (by: TestClient): Promise<Response> => postAs(limited, by, 'par', valid);
      for (let turn = 0; turn < 60; turn += 1) assert.equal((await pushBy(spa)).status, 201);
      const refused = await pushBy(spa);
      const waitSeconds = Number(refused.headers.get('retry-after'));
      assert.ok(waitSeconds > 0 && waitSeconds <= 60);
      await assertRefusal(refused, 'oauth.rate_limited', { fields: { retry_after_seconds: waitSeconds } });
      for (let turn = 0; turn < 62; turn += 1) assert.equal((await pushBy(app)).status, 201);
    });
    it('a parameter that means nothing here is taken and not stored', async () => {
      assert.equal(
        (await push({ anything: 'x'.repeat(8000), display: 'page', state: 'kept-1', audience: 'https://api.example' })).status,
        201,
      );
      const rows = await services.database.read(tenant.id, (queries) =>
        queries.selectFrom('pushed_requests').select('parameters').where('parameters', 'like', '%kept-1%').execute(),
      );
      assert.deepEqual(
        rows.map(({ parameters }) => [...new URLSearchParams(parameters).keys()].toSorted()),
        [['audience', 'code_challenge', 'code_challenge_method', 'redirect_uri', 'response_type', 'scope', 'state']],
      );
    });
    it('every parameter that authorize reads is stored', () => {
      const sources = [
        'authorize/authorize',
        'authorize/authorization-checks',
        'authorize/max-age',
        'authorize/session-answer',
        'authorize/claims-parameter',
        'scopes',
      ];
      const read = sources.flatMap((name) =>
        [...readFileSync(`src/oidc/${name}.ts`, 'utf8').matchAll(/\bparameters\.(?:get|getAll|has)\('([a-z_]+)'\)/g)].map(
          ([, parameter]) => parameter!,
        ),
      );
      const refused = new Set(['request', 'request_uri']); // never part of a request that is taken
      assert.ok(read.length > 20);
      assert.deepEqual(
        [...new Set(read)].filter((name) => !refused.has(name) && !(authorizationParameters as readonly string[]).includes(name)),
        [],
      );
    });
    it('nothing of the credential is stored with the request', async () => {
      const poster = await createClient(services, tenant, { tokenEndpointAuthMethod: 'client_secret_post' });
      assert.equal((await push({}, poster)).status, 201);
      const rows = await services.database.read(tenant.id, (queries) =>
        queries.selectFrom('pushed_requests').select('parameters').execute(),
      );
      assert.ok(
        rows.length > 0 && rows.every((row) => !row.parameters.includes(poster.secret) && !row.parameters.includes('client_secret')),
      );
    });
  });
}
