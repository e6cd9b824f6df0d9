// Design 11, part 8: a whole tenant moves to another deployment with another master key, in every direction between the two
// databases. What was issued goes on working there; the source answers 503 from the moment it is closed; the way back; and bundles
// that are not what they should be.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { untilStatus } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';
import { beginLogin } from '../support/login.ts';
import { mailsTo } from '../support/mailbox.ts';
import { callJson, clientCredentialsToken, createTestTenant, createTestUser, jsonOf, managedWith } from '../support/management.ts';
import { decodeJwt, exchange, postAs, redirectUri, refresh, tokensOf } from '../support/oidc.ts';
import { signInByPasskey } from '../support/passkeys.ts';
import { assertRefusal } from '../support/refusal.ts';
import { assertDelivered, finishSignIn, postback } from '../support/saml-idp.ts';
import { operatorToken } from '../support/server.ts';
import { type Deployment, fillTenant, type MoveWorld, openMoveWorld, rowsOf } from '../support/tenant-moves.ts';

const ways = databases.flatMap((from) => databases.map((to) => ({ from, to })));

const importKeyOf = async ({ json }: Deployment): Promise<string> =>
  (await json<{ readonly import_key: string }>('tenant', 'import-key')).import_key;

/** The tenant's keys as a deployment shows them, asked at its own address. */
const jwksAt = ({ ownUrl }: Deployment, slug: string): Promise<Response> => fetch(`${ownUrl}/t/${slug}/v1/idp/oidc/jwks`);

for (const { from, to } of ways) {
  describe(`a tenant moves from ${from} to ${to}`, () => {
    let world: MoveWorld;
    let filled: Awaited<ReturnType<typeof fillTenant>>;
    before(async () => {
      world = await openMoveWorld(from, to);
      filled = await fillTenant(world, 'acme');
    });
    after(() => world.close());

    it('export closes it at the source: 503 with Retry-After in every envelope, also for who writes past the memory of a node', async () => {
      const { source, target, place } = world;
      const told = await source.json(
        'export',
        '--complete',
        '--tenant',
        'acme',
        '--for',
        await importKeyOf(target),
        '--out',
        place('acme.bundle'),
      );
      assert.equal(statSync(place('acme.bundle')).mode & 0o777, 0o600);
      assert.equal(told['bytes'], statSync(place('acme.bundle')).size);
      // A write that began before the node knew: the database refuses it.
      const { services } = source.server.gatehouse;
      const writing = services.database.write(filled.tenant.id, async () => assert.fail('nobody enters a closed tenant'));
      await assert.rejects(writing, /the tenant is closed/);
      await untilStatus(() => jwksAt(source, 'acme'), 503);
      const base = `${source.ownUrl}/t/acme`;
      const token = { token: filled.tokens.access_token };
      const answers = [
        await assertRefusal(await postAs({ ...filled.tenant, baseUrl: base }, filled.client, 'introspect', token), 'oauth.unavailable'),
        await assertRefusal(await fetch(`${base}/v1/management/users`), 'management.unavailable'),
        await assertRefusal(await fetch(`${base}/scim/v2/Users`), 'scim.unavailable'),
        await assertRefusal(await fetch(`${source.ownUrl}/.well-known/oauth-authorization-server/t/acme`), 'oauth.unavailable'),
        await assertRefusal(await fetch(`${base}/`, { headers: { accept: 'text/html' } }), 'management.unavailable'),
      ];
      assert.equal(answers.length, 5);
      const retry = (await fetch(`${base}/scim/v2/Users`)).headers.get('retry-after');
      assert.equal(retry, '5');
      assert.equal((await fetch(`${source.ownUrl}/v1/idp/oidc/jwks`)).status, 200, 'other tenants are served');
      const listed = await source.json<readonly { readonly slug: string; readonly moving: boolean }[]>('tenant', 'list');
      assert.deepEqual(listed.map(({ slug, moving }) => [slug, moving]).toSorted(), [
        ['acme', true],
        ['main', false],
      ]);
    });

    it('import builds the same tenant: every row of every table, its secrets under the other master key', async () => {
      const { source, target, place } = world;
      const was = await rowsOf(source, filled.tenant.id);
      const dry = await target.json('import', place('acme.bundle'), '--dry-run');
      assert.equal(dry['imported'], false);
      assert.equal((await jwksAt(target, 'acme')).status, 404, 'a dry run writes nothing');
      const told = await target.json('import', place('acme.bundle'));
      assert.deepEqual(told['rows'], dry['rows']);
      assert.deepEqual((told['tenant'] as { readonly base_url: string }).base_url, filled.tenant.baseUrl);
      await untilStatus(() => jwksAt(target, 'acme'), 200);
      const is = await rowsOf(target, filled.tenant.id);
      const grown = ['audit_events', 'activity_counts']; // the import is recorded, refusals are counted
      for (const [table, rows] of was)
        if (grown.includes(table))
          assert.deepEqual(
            rows.filter((row) => !is.get(table)!.includes(row)),
            [],
            table,
          );
        else assert.deepEqual(is.get(table), table === 'held_deliveries' ? [] : rows, table);
      assert.deepEqual(await mailsTo(target.server, filled.mail.to), [filled.mail], 'a mail that waits opens under the other key');
      const full = [...was].filter(([, rows]) => rows.length > 0).map(([table]) => table);
      for (const table of [
        'signing_keys',
        'clients',
        'service_providers',
        'identity_providers',
        'users',
        'user_emails',
        'groups',
        'group_members',
        'passkeys',
        'devices',
        'device_keys',
        'grants',
        'refresh_tokens',
        'approvals',
        'login_transactions',
        'saml_sessions',
      ])
        assert.ok(full.includes(table), `${table} has rows`);
    });

    it('what was issued goes on there: refresh, introspection, UserInfo, the phone, the passkey, SAML, SCIM, the admin client', async () => {
      const { target, sendTo } = world;
      const { tenant, client, tokens, user, phone, login, asked, saml, samlSignIn, scim, group, managed, passkey } = filled;
      sendTo(target);
      const next = await tokensOf(await refresh(tenant, client, tokens.refresh_token));
      assert.equal(decodeJwt(next.id_token!).claims['iss'], tenant.baseUrl);
      const seen = await jsonOf(await postAs(tenant, client, 'introspect', { token: tokens.access_token }), 200);
      assert.deepEqual([seen['active'], seen['sub']], [true, user.id]);
      const info = await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${next.access_token}` } });
      assert.equal((await jsonOf(info, 200))['sub'], user.id);
      // The sign-in that began at the source is approved by the phone and ends here.
      const { items } = await jsonOf<{ readonly items: readonly { readonly id: string; readonly context_sha256: string }[] }>(
        await phone.get('/approvals?state=pending'),
        200,
      );
      const { id, context_sha256 } = items[0]!;
      await jsonOf(await phone.post(`/approvals/${id}/approve`, { context_sha256, match: asked.number }, { purpose: 'uv' }), 200);
      const finished = new URL(String((await jsonOf(await login.post('finish'), 200))['redirect_to']));
      await tokensOf(await exchange(tenant, client, finished.searchParams.get('code')!, { redirect_uri: redirectUri }));
      const again = await beginLogin(target.server, tenant, client);
      assert.ok((await signInByPasskey(again, user.email, passkey)).searchParams.has('code'));
      await finishSignIn(target.server, tenant, samlSignIn.sessionId, user.id);
      const { xml } = await assertDelivered(await postback(saml.base, samlSignIn.sessionId, samlSignIn.cookie));
      assert.ok(xml.includes(`>${user.email}<`));
      const { body } = await scim.call('GET', `/Groups/${group.id}`);
      assert.deepEqual(
        (body['members'] as readonly { readonly value: string }[]).map(({ value }) => value),
        [user.id],
      );
      const token = await clientCredentialsToken(tenant.baseUrl, managed.adminClientId, managed.adminClientSecret);
      assert.equal((await callJson(`${managed.managementApi}/users`, token, 'GET')).status, 200);
      // A refresh token that was used at the source is known as used here.
      await assertRefusal(await refresh(tenant, client, tokens.refresh_token), 'token.refresh_invalid');
    });

    it('a bundle is imported once, and not onto the tenant it made; deleted at the source it is unknown there', async () => {
      const { source, target, place } = world;
      await target.fails(
        /expected a bundle that was not imported here before, found the one of .*export the tenant again/,
        'import',
        place('acme.bundle'),
      );
      const removed = await fetch(`${source.ownUrl}/v1/system/tenants/${filled.tenant.id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${operatorToken}` },
      });
      assert.equal(removed.status, 204);
      await assertRefusal(await jwksAt(source, 'acme'), 'oauth.not_found');
    });

    it('and back again: where it once was, with what happened since', async () => {
      const { source, target, place, sendTo } = world;
      await createTestUser({ ...filled.managed, ...(await freshManager()) }, 'late@example.com');
      await target.json('export', '--complete', '--tenant', 'acme', '--for', await importKeyOf(source), '--out', place('back.bundle'));
      await source.json('import', place('back.bundle'));
      sendTo(source);
      await untilStatus(() => jwksAt(source, 'acme'), 200);
      const { body } = await filled.scim.call('GET', '/Users?filter=userName%20eq%20%22late@example.com%22');
      assert.equal(body['totalResults'], 1);
      assert.equal((await filled.phone.get('/approvals?state=pending')).status, 200);
    });

    const freshManager = async () => {
      const { tenant, managed } = filled;
      const token = await clientCredentialsToken(tenant.baseUrl, managed.adminClientId, managed.adminClientSecret);
      return managedWith(token, managed);
    };
  });
}

describe('moves that do not happen', () => {
  let world: MoveWorld;
  let key: string;
  before(async () => {
    world = await openMoveWorld('sqlite', 'sqlite');
    key = await importKeyOf(world.target);
  });
  after(() => world.close());
  const exportOf = (slug: string, file: string, to = key): readonly string[] => [
    'export',
    '--complete',
    '--tenant',
    slug,
    '--for',
    to,
    '--out',
    world.place(file),
  ];

  it('export: without a key, with a mistyped one, without a file, of the root tenant: nothing is closed', async () => {
    const { source, place } = world;
    await createTestTenant(source.server, { slug: 'open' });
    const wrong = `${key.slice(0, -1)}${key.endsWith('A') ? 'E' : 'A'}`;
    await source.fails(
      /--for: expected the import key .* found none\. Print it there with: gatehouse tenant import-key/,
      'export',
      '--complete',
      '--tenant',
      'open',
      '--out',
      place('x'),
    );
    await source.fails(/--for: expected the import key .* found gatehouse-import-/, ...exportOf('open', 'x', wrong));
    await source.fails(/--complete: expected --out <file>, found none/, 'export', '--complete', '--tenant', 'open', '--for', key);
    await source.fails(/expected a tenant that can move, found main/, ...exportOf('main', 'x'));
    writeFileSync(place('there'), 'mine');
    await source.fails(/expected a file that does not exist yet/, ...exportOf('open', 'there'));
    assert.equal(readFileSync(place('there'), 'utf8'), 'mine');
    assert.equal(existsSync(place('x')), false);
    assert.equal((await jwksAt(source, 'open')).status, 200);
  });

  it('reopen: the way back, with deliveries that were held meanwhile; an open tenant cannot be', async () => {
    const { source } = world;
    const managed = await createTestTenant(source.server, { slug: 'stays' });
    const { services } = source.server.gatehouse;
    const waiting = {
      id: 'waiting',
      recipient: 'a@example.com',
      recipient_key: 'a@example.com',
      subject: 's',
      text: 't',
      html: 'h',
      state: 'kept',
    };
    const times = { attempts: 0, next_attempt_at: 1, created_at: 1, expires_at: 4_000_000_000_000 };
    await services.database.system((queries) =>
      queries
        .insertInto('outbox_messages')
        .values({ tenant_id: managed.id as never, ...waiting, ...times })
        .execute(),
    );
    const mails = () =>
      services.database.systemRead((queries) => queries.selectFrom('outbox_messages').selectAll().where('id', '=', 'waiting').execute());
    const queued = await mails();
    await source.fails(/expected a tenant that export --complete closed, found stays open/, 'tenant', 'reopen', 'stays');
    await source.json(...exportOf('stays', 'stays.bundle'));
    await untilStatus(() => jwksAt(source, 'stays'), 503);
    assert.deepEqual(await mails(), [], 'nobody sends what moves');
    await source.fails(/the tenant is closed/, 'client', 'create', 'Late', '--tenant', 'stays');
    await source.json('tenant', 'reopen', 'stays');
    await untilStatus(() => jwksAt(source, 'stays'), 200);
    assert.deepEqual(await mails(), queued);
    await createTestUser(managed, 'after@example.com');
  });

  it('import: sealed for another deployment, tampered, truncated, lengthened, no bundle: refused before a row is written', async () => {
    const { source, target, place } = world;
    await createTestTenant(source.server, { slug: 'victim' });
    await source.json(...exportOf('victim', 'other.bundle', await importKeyOf(source)));
    await target.fails(
      /expected a bundle for this deployment, gatehouse-import-\S+, found one for gatehouse-import-\S+\. Export it again with: --for/,
      'import',
      place('other.bundle'),
    );
    rmSync(place('other.bundle'));
    await source.json(...exportOf('victim', 'victim.bundle')); // closed already: exported anew, for another
    const whole = readFileSync(place('victim.bundle'));
    const damaged = /expected every byte as it was sealed, found a change, a gap or an end too early/;
    const header = whole.indexOf(0x0a) + 1;
    const flip = (at: number): Buffer => Buffer.from(whole.map((byte, index) => (index === at ? byte ^ 1 : byte)));
    const spoiled = [
      flip(header),
      flip(whole.length - 1),
      flip(header - 3),
      whole.subarray(0, -1),
      whole.subarray(0, header),
      Buffer.concat([whole, Buffer.from([0])]),
    ];
    for (const bytes of spoiled) {
      writeFileSync(place('spoiled.bundle'), bytes);
      await target.fails(damaged, 'import', place('spoiled.bundle'));
    }
    writeFileSync(place('spoiled.bundle'), `gatehouse-tenant-1 ${'x'.repeat(400)}`);
    await target.fails(/expected a bundle of format gatehouse-tenant-1/, 'import', place('spoiled.bundle'));
    assert.equal((await jwksAt(target, 'victim')).status, 404);
    assert.deepEqual(
      (await target.json<readonly { readonly slug: string }[]>('tenant', 'list')).map(({ slug }) => slug),
      ['main'],
    );
  });

  it('import: the slug or domain taken by another tenant, another address: named, with what to do', async () => {
    const { source, target, place } = world;
    const domain = 'https://login.taken.example';
    await source.json('tenant', 'create', 'taken', '--domain', domain);
    await source.json(...exportOf('taken', 'taken.bundle'));
    await target.json('tenant', 'create', 'taken');
    await target.fails(/expected the slug taken to be free, found another tenant with it/, 'import', place('taken.bundle'));
    const listed = await target.json<readonly { readonly id: string; readonly slug: string }[]>('tenant', 'list');
    const { id } = listed.find(({ slug }) => slug === 'taken')!;
    await callJson(`${target.ownUrl}/v1/system/tenants/${id}`, operatorToken, 'DELETE');
    await target.json('tenant', 'create', 'holder', '--domain', domain);
    await target.fails(
      /expected the domain https:\/\/login\.taken\.example to be free, found it at tenant holder/,
      'import',
      place('taken.bundle'),
    );
    await target.fails(
      /expected a tenant that keeps its address https:\/\/elsewhere\.example\/t\/victim here, found http/,
      'import',
      place('victim.bundle'),
      '--public-url',
      'https://elsewhere.example',
    );
  });

  it('import: one that was cut off leaves a closed tenant that nobody reopens, and the next completes it', async () => {
    const { source, target, place } = world;
    const managed = await createTestTenant(source.server, { slug: 'halfway' });
    await source.json(...exportOf('halfway', 'halfway.bundle'));
    const { database } = target.server.gatehouse.services;
    const row = await source.server.gatehouse.services.database.systemRead((queries) =>
      queries.selectFrom('tenants').selectAll().where('slug', '=', 'halfway').executeTakeFirstOrThrow(),
    );
    // What the first transaction of an import that was killed leaves.
    await database.system((queries) =>
      queries
        .insertInto('tenants')
        .values({ ...row, moving: 'from:killed' })
        .execute(),
    );
    await untilStatus(() => jwksAt(target, 'halfway'), 503);
    await target.fails(/found halfway whose import did not get to its end/, 'tenant', 'reopen', 'halfway');
    await target.fails(/found halfway, whose import did not get to its end\. Repeat the import first/, ...exportOf('halfway', 'never'));
    await target.json('import', place('halfway.bundle'));
    await untilStatus(() => jwksAt(target, 'halfway'), 200);
    assert.equal(managed.id, row.tenant_id);
  });

  it('writes that race the closing are in the bundle or refused', async () => {
    const { source, target, place } = world;
    const managed = await createTestTenant(source.server, { slug: 'busy' });
    const acknowledged: string[] = [];
    let refused = 0;
    const enough = Promise.withResolvers<void>();
    const writer = async (at: number): Promise<void> => {
      for (let count = 0; refused < 8; count += 1) {
        const email = `w${at}-${count}@example.com`;
        const response = await managed.call('POST', '/users', { user_name: email, emails: [{ value: email, primary: true }] });
        if (response.status === 201) acknowledged.push(email);
        else {
          assert.equal(response.status, 503, await response.text());
          refused += 1;
        }
        if (acknowledged.length > 20) enough.resolve();
      }
    };
    const writers = Array.from({ length: 4 }, (_, at) => writer(at));
    await Promise.race([enough.promise, ...writers]);
    await source.json(...exportOf('busy', 'busy.bundle'));
    await Promise.all(writers);
    await target.json('import', place('busy.bundle'));
    const rows = await rowsOf(target, managed.id);
    const names = new Set(rows.get('users')!.map((row) => (JSON.parse(row) as { readonly user_name: string }).user_name));
    assert.deepEqual(
      acknowledged.filter((email) => !names.has(email)),
      [],
    );
  });
});
