// What SCIM's carriers say: challenges, entity tags that see memberships, spellings of paths, and bodies that other services
// read with a shrug (design 15, SCIM 1 and 4 to 14), on both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import { sendRaw } from '../support/raw-http.ts';
import { assertRefusal } from '../support/refusal.ts';
import {
  groupSchema,
  type Json,
  mintScimToken,
  patchBody,
  rootTenant,
  type ScimCaller,
  scimCaller,
  scimPlaces,
  startScim,
  userBody,
} from '../support/scim.ts';

const q = encodeURIComponent;

for (const { database, directory } of scimPlaces) {
  describe(`SCIM protocol of ${directory} (${database})`, () => {
    let scim: ScimCaller;
    before(async () => {
      scim = await startScim(database, {}, directory);
    });
    after(() => scim.close());

    it('RFC 6750 3: a challenge without error when no token came, invalid_token and insufficient_scope with one', async () => {
      const challengeOf = async (authorization: string | undefined, method = 'GET'): Promise<string | null> => {
        const headers = authorization === undefined ? {} : { authorization };
        return (await fetch(`${scim.base}/Users`, { method, headers })).headers.get('www-authenticate');
      };
      const reader = await mintScimToken(scim.server, { scope: 'scim:read' });
      assert.equal(await challengeOf(undefined), 'Bearer realm="scim"');
      assert.equal(await challengeOf('Bearer nonsense'), 'Bearer realm="scim", error="invalid_token"');
      if (directory === 'organization') {
        assert.equal(await challengeOf(`Bearer ${reader}`), 'Bearer realm="scim", error="invalid_token"');
        return; // no token is for it that may do less
      }
      assert.equal(await challengeOf(`Bearer ${reader}`, 'POST'), 'Bearer realm="scim", error="insufficient_scope", scope="scim:write"');
      assert.equal(await challengeOf(`Bearer ${reader}`), null);
      await assertRefusal(await scimCaller(scim.server, 'x').fetch('GET', '/Users'), 'scim.unauthorized', {
        text: 'The access token is not a token of this service.',
      });
    });

    it('7.13 scim.invalidValue: a member without a string value, wherever members are written', async () => {
      const user = await scim.newUser('member1');
      const group = await scim.newGroup('Strict', [user.id]);
      const path = `/Groups/${group.id}`;
      for (const wrong of [null, {}, { display: 'x' }, { value: null }, { value: '' }, { value: 7 }, 'text', ['list']]) {
        const members = [{ value: user.id }, wrong];
        const writes: readonly (readonly [string, string, Json])[] = [
          ['POST', '/Groups', { schemas: [groupSchema], displayName: 'Never', members }],
          ['PUT', path, { schemas: [groupSchema], displayName: 'Strict', members }],
          ['PATCH', path, patchBody({ op: 'add', path: 'members', value: members })],
          ['PATCH', path, patchBody({ op: 'replace', value: { members } })],
          ['PATCH', path, patchBody({ op: 'remove', path: 'members', value: members })],
        ];
        for (const [method, target, body] of writes) {
          const result = await scim.call(method, target, body);
          assert.equal(result.body['scimType'], 'invalidValue', `${method} ${JSON.stringify(body)}: ${JSON.stringify(result.body)}`);
        }
      }
      assert.deepEqual(((await scim.call('GET', path)).body['members'] as readonly Json[]).length, 1);
      assert.equal((await scim.call('PUT', path, { displayName: 'Strict', members: [] })).body['members'], undefined);
    });

    it('7.13 scim.invalidValue: a bulk body that is no JSON, and data that is no object', async () => {
      for (const text of ['', '{', 'null;', '{"Operations": [}']) {
        await assertRefusal(await scim.fetch('POST', '/Bulk', text), 'scim.invalidValue', { text: 'The body is not valid JSON.' });
      }
      const user = await scim.newUser('bulkdata');
      const Operations = [undefined, null, 'text', 5, []].flatMap((data) => [
        { method: 'POST', path: '/Users', bulkId: `b${String(data)}`, data },
        { method: 'PUT', path: `/Users/${user.id}`, data },
        { method: 'PATCH', path: `/Users/${user.id}`, data },
      ]);
      const { status, body } = await scim.call('POST', '/Bulk', { Operations });
      assert.equal(status, 200);
      for (const result of body['Operations'] as readonly Json[]) {
        assert.deepEqual([result['status'], (result['response'] as Json)['scimType']], ['400', 'invalidValue'], JSON.stringify(result));
      }
    });

    it('design 15, SCIM 6: the entity tag of a user in groups names them; If-Match asks for the version alone', async () => {
      const user = await scim.newUser('tagged');
      const path = `/Users/${user.id}`;
      const tagOf = async (more = ''): Promise<string> => {
        const { headers, body } = await scim.call('GET', path + more);
        assert.equal((body['meta'] as Json)['version'], headers.get('etag'));
        return headers.get('etag')!;
      };
      const isFresh = async (tag: string): Promise<boolean> =>
        (await scim.fetch('GET', path, undefined, { 'if-none-match': tag })).status === 304;
      assert.equal(await tagOf(), 'W/"1"');
      const group = await scim.newGroup('Taggers', [user.id]);
      const inOne = await tagOf();
      assert.match(inOne, /^W\/"1-[A-Za-z0-9_-]{16}"$/);
      assert.deepEqual([await isFresh('W/"1"'), await isFresh(inOne), await isFresh(`"x", ${inOne}`)], [false, true, true]);
      assert.equal(await tagOf('?excludedAttributes=groups'), 'W/"1"');
      await scim.fetch('PATCH', `/Groups/${group.id}`, patchBody({ op: 'replace', path: 'displayName', value: 'Taggers 2' }));
      assert.notEqual(await tagOf(), inOne);
      const listed = await scim.call('GET', `/Users?filter=${q('userName eq "tagged"')}`);
      const [shown] = listed.body['Resources'] as readonly Json[];
      assert.equal((shown!['meta'] as Json)['version'], await tagOf());
      const write = (tag: string, title: string): Promise<Response> =>
        scim.fetch('PATCH', path, patchBody({ op: 'replace', path: 'title', value: title }), { 'if-match': tag });
      assert.equal((await write('W/"2"', 'no')).status, 412);
      const written = await write(inOne, 'yes'); // the memberships have changed since, the user has not
      assert.equal(written.status, 200);
      assert.equal(written.headers.get('etag'), await tagOf());
      assert.equal((await write('W/"1"', 'no')).status, 412);
      const bulk = await scim.call('POST', '/Bulk', {
        Operations: [{ method: 'PATCH', path, version: await tagOf(), data: patchBody({ op: 'replace', path: 'title', value: 'bulk' }) }],
      });
      assert.equal((bulk.body['Operations'] as readonly Json[])[0]!['version'], await tagOf());
    });

    it('7.13 scim.invalidValue: active is a boolean or its word, never an empty text', async () => {
      for (const active of ['', 'yes', 1, 'truee']) {
        const body = { ...userBody(`act${String(active)}`), active };
        assert.equal((await scim.call('POST', '/Users', body)).body['scimType'], 'invalidValue', String(active));
      }
      assert.equal((await scim.newUser('active1', { active: 'TRUE' }))['active'], true);
      assert.equal((await scim.newUser('active2', { active: 'False' }))['active'], false);
    });

    it('RFC 8265: a userName outside the rules is refused when it is given, and stays valid where it was given before', async () => {
      for (const userName of [' lead', 'tail ', 'two  spaces', 'zero\u200Bwidth', 'snow\u2603', 'henry\u2163', '\u05D0a']) {
        const { status, body } = await scim.call('POST', '/Users', { ...userBody('named'), userName });
        assert.deepEqual([status, body['scimType']], [400, 'invalidValue'], JSON.stringify(userName));
      }
      const user = await scim.newUser('named', { userName: 'Stra\u00DFe \uFF21' });
      assert.equal(user['userName'], 'Stra\u00DFe \uFF21');
      assert.equal(
        (await scim.call('POST', '/Users', { ...userBody('named2'), userName: 'STRA\u1E9EE a' })).body['scimType'],
        'uniqueness',
      );
      const found = await scim.call('GET', `/Users?filter=${q('userName eq "strasse A"')}`);
      assert.equal(found.body['totalResults'], 1);
      const tenant = (await rootTenant(scim.server)).id;
      const { database: store } = scim.server.gatehouse.services;
      await store.write(tenant, (queries) =>
        queries
          .updateTable('users')
          .set({ user_name: 'snow\u2603', user_name_key: 'snow\u2603' })
          .where('tenant_id', '=', tenant)
          .where('id', '=', user.id as UserId)
          .execute(),
      );
      const rename = (userName: string): Promise<Response> =>
        scim.fetch('PATCH', `/Users/${user.id}`, patchBody({ op: 'replace', value: { userName, title: 'x' } }));
      assert.deepEqual(
        [(await rename('snow\u2603')).status, (await rename('Snow\u2603')).status, (await rename('snow')).status],
        [200, 400, 200],
      );
    });

    it('design 15, SCIM 9: an address twice in one body is one email, the later values winning', async () => {
      const user = await scim.newUser('twice', {
        emails: [
          { value: 'Twice@example.com', type: 'work', primary: true },
          { value: 'other@example.com', type: 'home' },
          { value: 'twice@EXAMPLE.com', display: 'Again' },
        ],
      });
      assert.deepEqual(user['emails'], [
        { value: 'twice@EXAMPLE.com', display: 'Again', type: 'work', primary: true },
        { value: 'other@example.com', type: 'home', primary: false },
      ]);
      const emails = [
        { value: 'a@example.com', primary: true },
        { value: 'A@example.com', type: 'home' },
      ];
      for (const [method, body] of [
        ['PUT', { ...userBody('twice'), emails }],
        ['PATCH', patchBody({ op: 'replace', path: 'emails', value: emails })],
      ] as const) {
        const { body: changed } = await scim.call(method, `/Users/${user.id}`, body);
        assert.deepEqual(changed['emails'], [{ value: 'A@example.com', type: 'home', primary: true }]);
      }
    });

    it('7.13 scim.invalidFilter: a filter on what the service is made of', async () => {
      for (const path of ['/Schemas', `/Schemas/${groupSchema}`, '/ResourceTypes', '/ResourceTypes/User', '/ServiceProviderConfig']) {
        await assertRefusal(await scim.fetch('GET', `${path}?Filter=${q('id pr')}`), 'scim.invalidFilter', {
          text: 'What the service is made of cannot be filtered.',
        });
        assert.equal((await scim.fetch('GET', path)).status, 200);
      }
    });

    it('7.13 scim.invalidFilter: a NUL in the filter of a search', async () => {
      const nul = '\u0000';
      for (const path of ['/.search', '/Users/.search', '/Groups/.search']) {
        const { status, body } = await scim.call('POST', path, { filter: `id eq "a${nul}b"` });
        assert.deepEqual([status, body['scimType']], [400, 'invalidFilter'], path);
        assert.equal((await scim.call('POST', path, { filter: `id${nul} pr` })).body['scimType'], 'invalidFilter');
      }
      assert.equal((await scim.call('POST', '/Users/.search', { sortBy: nul })).body['scimType'], 'invalidValue');
      assert.equal((await scim.call('POST', '/Users', { ...userBody('nul'), title: nul })).body['scimType'], 'invalidValue');
    });

    it('design 15, SCIM 14: collections in lower case and with a slash', async () => {
      for (const [path, schema] of [
        ['/users', 'emails'],
        ['/Users/', 'emails'],
        ['/users/', 'emails'],
        ['/groups/', 'members'],
      ] as const) {
        const listed = await scim.call('GET', `${path}?count=1&attributes=${schema}`);
        assert.equal(listed.status, 200, path);
        assert.deepEqual(listed.body['schemas'], ['urn:ietf:params:scim:api:messages:2.0:ListResponse']);
      }
      const { status, body, headers } = await scim.call('POST', '/users/', userBody('slashed'));
      assert.equal(status, 201);
      assert.equal(headers.get('location'), `${scim.base}/Users/${String(body['id'])}`);
      assert.equal((await scim.call('GET', `/users/${String(body['id'])}`)).body['userName'], 'slashed');
      assert.equal((await scim.fetch('DELETE', '/Users/')).status, 405);
    });

    it('scim.malformed: two Content-Type headers answer in the SCIM envelope', async () => {
      const body = JSON.stringify(userBody('twotypes'));
      const send = (types: readonly string[]): Promise<Response> =>
        sendRaw(
          scim.server.url,
          `POST ${new URL(scim.base).pathname}/Users HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${scim.token}\r\n${types
            .map((type) => `Content-Type: ${type}\r\n`)
            .join('')}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
        );
      await assertRefusal(await send(['application/scim+json', 'application/json']), 'scim.malformed');
      assert.equal((await send(['application/scim+json'])).status, 201);
    });
  });
}
