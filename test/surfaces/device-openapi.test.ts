// /v1/device/openapi.json: valid by an independent judge, complete by the routes and the catalogue, and true: what the server answers
// a phone on its way has the shapes the document promises.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Compile } from 'typebox/compile';
import { createApproval, subjectKeyOf } from '../../src/approvals/approval.ts';
import { catalogue, type RowId } from '../../src/contract/catalogue.ts';
import { deviceRows } from '../../src/contract/device.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, createEnrollmentToken, createUser, enrolledPhone, testDevice, unlimited } from '../support/enrolled-phone.ts';
import { createPhone, makeKey, type Phone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { registered } from '../support/registered-phone.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

type Json = Readonly<Record<string, unknown>>;
interface Answer {
  readonly content?: {
    readonly 'application/json': { readonly schema: Json; readonly examples?: Readonly<Record<string, { readonly value: Json }>> };
  };
}
interface Operation {
  readonly parameters: readonly Json[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Json } } };
  readonly responses: Readonly<Record<string, Answer>>;
}
interface Document extends Json {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

for (const database of databases) {
  describe(`OpenAPI of the device plane on ${database}`, () => {
    let server: TestServer;
    let document: Document;
    let resolved: Document;
    before(async () => {
      server = await startTestServer(database);
      await changeSettings(server, { ...unlimited, device: { additional_device: 'email_pin' } });
      document = (await (await fetch(`${server.url}/v1/device/openapi.json`)).json()) as Document;
      const validator = new Validator();
      const { valid, errors } = await validator.validate(structuredClone(document) as Record<string, unknown>);
      assert.ok(valid, JSON.stringify(errors));
      resolved = validator.resolveRefs() as unknown as Document; // the same document without references
    });
    after(() => server.close());

    const operations = () =>
      Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ call: `${method.toUpperCase()} ${path}`, operation })),
      );

    it('is OpenAPI 3.1 for the tenant’s own address, needs no signature, and takes GET alone', async () => {
      assert.deepEqual([document.openapi, document.servers], ['3.1.0', [{ url: `${server.url}/v1/device` }]]);
      await assertRefusal(await fetch(`${server.url}/v1/device/openapi.json`, { method: 'POST' }), 'management.method_not_allowed');
      await assertRefusal(await fetch(`${server.url}/v1/device/self`), 'device.upgrade_required', {
        fields: { min_supported: 1, current: 1 },
      });
    });

    it('the judge refuses a document that is wrong in one place', async () => {
      const { paths: _without, ...rest } = document;
      for (const wrong of [
        { ...rest, paths: { self: 1 } },
        { ...document, openapi: '3.1.x' },
        { ...document, servers: 'x' },
      ])
        assert.equal((await new Validator().validate(wrong as Record<string, unknown>)).valid, false);
    });

    it('has every route and no other', () => {
      const routes = readFileSync('src/device/routes.ts', 'utf8');
      const known = [...routes.matchAll(/route\('([^']+)', (\{.*\})\);$/gm)].flatMap(([, path, methods]) =>
        [...methods!.matchAll(/\b(GET|POST|PUT|PATCH|DELETE):/g)].map(([, method]) => `${method} ${path!.replace(':id', '{id}')}`),
      );
      assert.ok(known.length > 20);
      assert.deepEqual(
        operations()
          .map(({ call }) => call)
          .toSorted(),
        known.toSorted(),
      );
    });

    it('every refusal of the catalogue stands under its status with its exact body, and none that is not', () => {
      const shown = new Set<string>();
      for (const { call, operation } of operations())
        for (const [status, answer] of Object.entries(operation.responses))
          for (const [id, { value }] of Object.entries(answer.content?.['application/json'].examples ?? {})) {
            const row = catalogue[id as RowId];
            assert.ok(row !== undefined, `${call}: ${id}`);
            assert.deepEqual([status, value['error'], value['kind']], [String(row.status), row.code, row.kind], `${call}: ${id}`);
            if (row.text !== undefined) assert.equal(value['message'], row.text);
            assert.deepEqual(
              Object.keys(value).toSorted(),
              ['error', 'message', ...(row.kind === undefined ? [] : ['kind']), ...(row.fields ?? [])].toSorted(),
            );
            assert.ok(fits(resolvedAnswer(call, status), value), `${call} ${status} ${id}`);
            shown.add(id);
          }
      assert.deepEqual(
        Object.keys(deviceRows).filter((id) => !shown.has(id)),
        [],
      );
    });

    const resolvedAnswer = (call: string, status: string): Json => {
      const [method = '', path = ''] = call.split(' ');
      const answer = resolved.paths[path]?.[method.toLowerCase()]?.responses[status];
      assert.ok(answer !== undefined, `${call}: ${status} is not in the document`);
      return answer.content?.['application/json'].schema ?? {};
    };
    /** What was sent and answered has the shapes of the document. */
    const check = async (call: string, body: unknown, answer: Promise<Response>, status: number): Promise<Json> => {
      const response = await answer;
      const text = await response.text();
      assert.equal(response.status, status, `${call}: ${text}`);
      const [method = '', path = ''] = call.split(' ');
      const operation = resolved.paths[path]![method.toLowerCase()]!;
      const asked = operation.requestBody?.content['application/json'].schema;
      if (body !== undefined) assert.ok(asked !== undefined && fits(asked, body), `${call}: body ${JSON.stringify(body)}`);
      const value = text === '' ? undefined : (JSON.parse(text) as Json);
      const promised = resolvedAnswer(call, String(status));
      assert.equal(value === undefined, Object.keys(promised).length === 0, call);
      if (value !== undefined) assert.ok(fits(promised, value), `${call}: ${text}`);
      return value ?? {};
    };
    const send = (phone: Phone, call: string, path: string, body?: unknown, purpose: 'pop' | 'uv' = 'pop') =>
      phone.call(call.split(' ', 1)[0]!, `/v1/device${path}`, { ...(body === undefined ? {} : { body }), purpose });

    it('what a phone sends and gets on its way is as the document says', async () => {
      const user = await createUser(server, 'ada@example.com');
      const phone = createPhone(server.url, server.clock.nowMs);
      const step = (call: string, body: unknown, status: number, path = call.split(' ')[1]!, purpose: 'pop' | 'uv' = 'pop') =>
        check(call, body, send(phone, call, path, body, purpose), status);
      const token = await createEnrollmentToken(server, user);
      const redeemed = await step(
        'POST /enrollment/redeem',
        { enrollment_token: token, device: testDevice, keys: phone.publicKeys() },
        200,
      );
      const registration = { registration_token: redeemed['registration_token'] };
      const { challenge } = await step('POST /attestation/challenge', registration, 201);
      await step('POST /enroll', { ...registration, proofs: phone.proofs(String(challenge)) }, 201);
      await step('GET /self', undefined, 200);
      await step('PATCH /self', { name: 'Renamed' }, 200);
      await step('PUT /push-token', { provider: 'fcm', token: 'abc' }, 204);
      await step('GET /push-token', undefined, 200);
      const ask = async (): Promise<string | undefined> => {
        const tenant = (await server.gatehouse.services.tenants.byId(user.tenant))!;
        const facts = { kind: 'oidc_login', userId: user.id, subjectKey: subjectKeyOf(user.id, ''), withNumber: true } as const;
        const made = await server.gatehouse.services.database.write(user.tenant, (queries) =>
          createApproval(queries, tenant, { ...facts, lifetimeSeconds: 300, onDevices: true }),
        );
        return made.ok ? made.number : undefined;
      };
      const number = await ask();
      const list = async () => ((await step('GET /approvals', undefined, 200))['items'] as readonly Json[])[0]!;
      const approval = await list();
      const decide = (what: string, id: unknown, body: Json, status: number) =>
        step(`POST /approvals/{id}/${what}`, body, status, `/approvals/${String(id)}/${what}`, 'uv');
      await decide('approve', approval['id'], { context_sha256: approval['context_sha256'], match: number }, 200);
      await decide('deny', approval['id'], { reason: 'other' }, 409);
      await ask();
      await decide('deny', (await list())['id'], { reason: 'mistake' }, 200);
      await step('GET /activity', undefined, 200);
      await step('POST /approvals/claim', { code: 'nothing' }, 404);
      const rotation = await step('POST /keys/rotate/start', {}, 200);
      const fresh = makeKey('pop', 'ES256', phone.keys.pop.keyId);
      const freshUv = makeKey('uv', 'ES256', phone.keys.uv.keyId);
      const keys = [[phone.keys.pop, fresh] as const, [phone.keys.uv, freshUv] as const].map(([old, next]) =>
        phone.rotation(old, next, String(rotation['nonce'])),
      );
      await step('POST /keys/rotate/confirm', { nonce: rotation['nonce'], keys }, 200);
      Object.assign(phone.keys, { pop: fresh, uv: freshUv });
      await step('POST /keys/rotate/complete', { rotation_id: rotation['rotation_id'] }, 200);
      await step('POST /keys/rotate/start', {}, 200);
      await step('POST /keys/rotate/abort', {}, 200);
      const other = await enrolledPhone(server, user);
      await step('POST /devices/{id}/revoke', undefined, 204, `/devices/${other.deviceId}/revoke`, 'uv');
      await step('DELETE /self', undefined, 204);
      await step('GET /self', undefined, 401);
    });

    it('so is registering by mail', async () => {
      const { send: enroll } = await registered(server, await createUser(server, 'grace@example.com'));
      await check('POST /enroll', undefined, enroll(), 201);
      const stranger = createPhone(server.url, server.clock.nowMs);
      const body = { email: 'nobody@example.com', device: testDevice, keys: stranger.publicKeys() };
      const started = await check('POST /registration/start', body, stranger.post('/registration/start', body), 202);
      const pin = { registration_token: started['registration_token'], pin: '000000' };
      await check('POST /pin/verify', pin, stranger.post('/pin/verify', pin), 401);
      const again = { registration_token: started['registration_token'] };
      await check('POST /pin/resend', again, stranger.post('/pin/resend', again), 429);
      await check('POST /signup/start', body, stranger.post('/signup/start', body), 403);
    });
  });
}

const compiled = new WeakMap<object, ReturnType<typeof Compile>>();
function fits(schema: Json, value: unknown): boolean {
  const check = compiled.get(schema) ?? Compile(schema);
  compiled.set(schema, check);
  return check.Check(value);
}
