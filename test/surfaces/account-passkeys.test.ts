// Passkeys on the account page over HTTP: list, add, rename, revoke; who may add one, and which responses are not accepted.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { userHandleOf } from '../../src/approvals/passkeys/passkeys.ts';
import { passkeyNameCharsMax } from '../../src/contract/limits.ts';
import type { UserId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { listPasskeysOfUser, type Passkey } from '../../src/storage/sign-in/passkeys.ts';
import { type CreationOptions, createPasskey, flags, type Lies, type TestPasskey } from '../support/authenticator.ts';
import { databases } from '../support/databases.ts';
import { type AppVisitor, openApp } from '../support/first-party-app.ts';
import { createClient, createUser, type TestUser } from '../support/fixtures.ts';
import { beginLogin } from '../support/login.ts';
import { mailsTo } from '../support/mailbox.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { givePasskey, signInByPasskey, signInByPhone } from '../support/passkeys.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertEscaped, xssCorpus } from '../support/xss.ts';

interface Person extends TestUser {
  readonly visitor: AppVisitor;
}

for (const database of databases) {
  describe(`passkeys on the account page, ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    before(async () => {
      server = await startTestServer(database);
      const rates = { login_starts_per_ip: roomyRate, pin_attempts_per_ip: roomyRate };
      managed = await createTestTenant(server, { settings: { login_methods: ['phone', 'passkey', 'email_pin'], rate_limits: rates } });
      tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
    });
    after(() => server.close());

    const newPerson = (): Promise<TestUser> => createUser(server.gatehouse.services, tenant); // no token of ours expires meanwhile
    const byPhone = async (): Promise<Person> => {
      const person = await newPerson();
      const { visitor } = await openApp(server, 'account', managed, person.email, (login) =>
        signInByPhone(server, tenant, login, person.email),
      );
      return { ...person, visitor };
    };
    const textOf = async (response: Response, status = 200): Promise<string> => {
      const text = await response.text();
      assert.equal(response.status, status, text.slice(0, 2000));
      return text;
    };
    const plain = (text: string): string => text.replace(/&#(\d+);/g, (_match, code) => String.fromCharCode(Number(code)));
    const optionsOf = async ({ visitor }: Person): Promise<CreationOptions> => {
      const text = await textOf(await visitor.page('/passkeys/new'));
      return JSON.parse(plain(/data-options="([^"]+)"/.exec(text)?.[1] ?? 'no options'));
    };
    const passkeyOf = ({ id }: { readonly id: UserId }): TestPasskey => createPasskey(new URL(tenant.baseUrl).origin, userHandleOf(id), 0);
    const submit = ({ visitor }: Person, response: unknown, name = 'Laptop'): Promise<Response> =>
      visitor.submit('/passkeys', { name, response: JSON.stringify(response) });
    const stored = ({ id }: { readonly id: UserId }): Promise<readonly Passkey[]> =>
      server.gatehouse.services.database.read(tenant.id, (queries) => listPasskeysOfUser(queries, tenant.id, id));
    const eventsOf = async ({ id }: { readonly id: UserId }): Promise<readonly string[]> => {
      const rows = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries
          .selectFrom('audit_events')
          .select(['type', 'reason'])
          .where('actor', '=', `user:${id}`)
          .where('type', 'like', 'passkey.%')
          .orderBy('id')
          .execute(),
      );
      return rows.map(({ type, reason }) => (reason === null ? type : `${type} ${reason}`));
    };

    it('added after a sign-in by phone: options, list, mail, audit record, and it signs in', async () => {
      const person = await byPhone();
      assert.match(await textOf(await person.visitor.page('/passkeys')), /You have no passkeys yet\.[\s\S]*id="add-passkey"/);
      const options = await optionsOf(person);
      const { challenge, ...rest } = options;
      assert.equal(Buffer.from(challenge, 'base64url').length, 32);
      assert.deepEqual(rest, {
        rp: { id: new URL(tenant.baseUrl).hostname, name: tenant.name },
        user: { id: Buffer.from(person.id).toString('base64url'), name: person.email, displayName: 'Ada Lovelace' },
        pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })),
        timeout: 300_000,
        excludeCredentials: [],
        authenticatorSelection: { residentKey: 'preferred', requireResidentKey: false, userVerification: 'required' },
        attestation: 'none',
      });
      const passkey = passkeyOf(person);
      const added = await submit(
        person,
        passkey.register(options, { flags: flags.userPresent | flags.userVerified | flags.backupEligible | flags.backedUp }),
        '  My\n <b>Laptop</b> ',
      );
      assert.equal(added.status, 303, await added.text());
      assert.equal(added.headers.get('location'), `${new URL(tenant.baseUrl).pathname}/account/passkeys?done=donePasskeyAdded`);
      const list = await textOf(await person.visitor.page('/passkeys?done=donePasskeyAdded'));
      assert.match(list, /The passkey was added\.[\s\S]*My &#60;b&#62;Laptop&#60;\/b&#62;[\s\S]*synced between your devices[\s\S]*Never/);
      const [row] = await stored(person);
      const { public_key: publicKey, transports, backup_eligible: eligible, backed_up: backedUp, counter } = row!;
      assert.deepEqual([publicKey, transports, eligible, backedUp, counter], [passkey.publicKey, '["internal","hybrid"]', 1, 1, 1]);
      const [mail] = await mailsTo(server, person.email);
      assert.equal(mail?.subject, `A passkey was added to your ${tenant.name} account`);
      assert.match(mail?.text ?? '', /“My <b>Laptop<\/b>”/);
      assert.deepEqual(await eventsOf(person), ['passkey.added']);
      const login = await beginLogin(server, tenant, await createClient(server.gatehouse.services, tenant));
      assert.ok((await signInByPasskey(login, person.email, passkey)).searchParams.get('code'));
      assert.deepEqual((await optionsOf(person)).excludeCredentials, [
        { id: passkey.credentialId, type: 'public-key', transports: ['internal', 'hybrid'] },
      ]);
    });

    it('a response counts once, and only in the session it was asked for in', async () => {
      const person = await byPhone();
      const other = await byPhone();
      const response = passkeyOf(person).register(await optionsOf(person));
      await optionsOf(other);
      assert.match(await textOf(await submit(other, response), 400), /could not be added/);
      assert.equal((await submit(person, response)).status, 303);
      assert.match(await textOf(await submit(person, response), 400), /could not be added/);
      assert.equal((await stored(person)).length, 1);
      assert.deepEqual(await stored(other), []);
      assert.deepEqual(await eventsOf(other), ['passkey.failed challenge']);
    });

    it('a credential that is registered is taken, also by another person', async () => {
      const person = await byPhone();
      const passkey = passkeyOf(person);
      assert.equal((await submit(person, passkey.register(await optionsOf(person)))).status, 303);
      const other = await byPhone();
      await textOf(await submit(other, passkey.register(await optionsOf(other))), 400);
      assert.deepEqual(await eventsOf(other), ['passkey.failed taken']);
      assert.deepEqual(await stored(other), []);
    });

    it('an expired challenge, and every lie of a response, add nothing', async () => {
      const person = await byPhone();
      const late = passkeyOf(person).register(await optionsOf(person));
      await server.clock.advance(301_000);
      await textOf(await submit(person, late), 400);
      const fresh = await byPhone();
      const { privateKey: stranger } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const lies: readonly [Lies, string][] = [
        [{ type: 'webauthn.get' }, 'type'],
        [{ challenge: 'AAAA' }, 'challenge'],
        [{ origin: 'https://evil.example' }, 'origin'],
        [{ crossOrigin: true }, 'cross_origin'],
        [{ rpId: 'evil.example' }, 'credential'],
        [{ flags: flags.userPresent }, 'credential'],
        [{ key: stranger }, 'credential'],
        [{ credentialId: 'AAAA' }, 'credential'],
      ];
      for (const [lie] of lies) await textOf(await submit(fresh, passkeyOf(fresh).register(await optionsOf(fresh), lie)), 400);
      assert.deepEqual(
        await eventsOf(fresh),
        lies.map(([, reason]) => `passkey.failed ${reason}`),
      );
      assert.deepEqual(await stored(fresh), []);
      assert.deepEqual(await eventsOf(person), ['passkey.failed no_challenge']);
      for (const response of ['', '{', 'null', '{"id":"AAAA"}'])
        await textOf(await fresh.visitor.submit('/passkeys', { name: 'x', response }), 400);
    });

    it('names: one to sixty characters', async () => {
      const person = await byPhone();
      for (const name of ['', '   ', 'x'.repeat(passkeyNameCharsMax + 1)])
        assert.match(
          await textOf(await submit(person, passkeyOf(person).register(await optionsOf(person)), name), 400),
          /at most 60 characters/,
        );
      assert.equal(
        (await submit(person, passkeyOf(person).register(await optionsOf(person)), '鍵'.repeat(passkeyNameCharsMax))).status,
        303,
      );
      const [row] = await stored(person);
      assert.equal(row?.name, '鍵'.repeat(passkeyNameCharsMax));
    });

    it('markup in a name stays text, in the list, on its page and in the mail', async () => {
      const person = await byPhone();
      const { id } = await givePasskey(server, tenant, person);
      for (const text of xssCorpus.filter((name) => name.length <= passkeyNameCharsMax)) {
        assert.equal((await person.visitor.submit(`/passkeys/${id}/rename`, { name: text })).status, 303, text);
        const [row] = await stored(person);
        for (const path of ['/passkeys', `/passkeys/${id}`]) assertEscaped(await textOf(await person.visitor.page(path)), row!.name);
      }
      assert.equal((await person.visitor.submit(`/passkeys/${id}/rename`, { name: '<img src=x onerror=alert(1)>' })).status, 303);
      assert.equal((await person.visitor.submit(`/passkeys/${id}/revoke`, {})).status, 303);
      const [mail] = await mailsTo(server, person.email);
      assert.match(mail?.html ?? '', /&#60;img src=x onerror=alert\(1\)&#62;/);
      assert.doesNotMatch(mail?.html ?? '', /<img/);
    });

    it('eight passkeys fit, not nine', async () => {
      const person = await byPhone();
      for (let made = 0; made < 7; made += 1) await givePasskey(server, tenant, person);
      const options = await optionsOf(person);
      await givePasskey(server, tenant, person);
      assert.match(await textOf(await submit(person, passkeyOf(person).register(options)), 400), /You have 8 passkeys/);
      assert.doesNotMatch(await textOf(await person.visitor.page('/passkeys')), /id="add-passkey"/);
      assert.equal((await stored(person)).length, 8);
    });

    it('ten minutes after the sign-in it is signed in again first; a passkey will do', async () => {
      const person = await byPhone();
      const passkey = await givePasskey(server, tenant, person);
      await server.clock.advance(400_000);
      const options = await optionsOf(person);
      await server.clock.advance(201_000);
      assert.match(await textOf(await person.visitor.page('/passkeys/new')), /within the last ten minutes[\s\S]*id="sign-in-again"/);
      await textOf(await submit(person, passkeyOf(person).register(options)), 400);
      assert.equal((await stored(person)).length, 1);
      const location = new URL((await person.visitor.page('/passkeys/sign-in')).headers.get('location') ?? '');
      assert.equal(location.searchParams.get('acr_values'), 'phone');
      const { visitor } = await openApp(server, 'account', managed, person.email, (login) => signInByPasskey(login, person.email, passkey));
      const again = { ...person, visitor };
      assert.equal((await submit(again, passkeyOf(person).register(await optionsOf(again)))).status, 303);
    });

    it('after an email code: the first passkey of a person without a phone, and no other', async () => {
      const person = await newPerson();
      const { visitor } = await openApp(server, 'account', managed, person.email);
      const mailed: Person = { ...person, visitor };
      const location = (await mailed.visitor.page('/passkeys/sign-in')).headers.get('location') ?? '';
      assert.equal(new URL(location).searchParams.has('acr_values'), false);
      const options = await optionsOf(mailed);
      await givePasskey(server, tenant, person); // from another session, meanwhile
      await textOf(await submit(mailed, passkeyOf(person).register(options)), 400);
      assert.deepEqual(await eventsOf(person), ['passkey.failed not_allowed']);
      assert.match(await textOf(await mailed.visitor.page('/passkeys/new')), /A code by email is not enough/);
      assert.equal((await stored(person)).length, 1);
      const first = await newPerson();
      const { visitor: alone } = await openApp(server, 'account', managed, first.email);
      const newcomer: Person = { ...first, visitor: alone };
      assert.equal((await submit(newcomer, passkeyOf(first).register(await optionsOf(newcomer)))).status, 303);
    });

    it('renamed and revoked by the person, by nobody else, with mail and audit records', async () => {
      const person = await byPhone();
      const thief = await byPhone();
      const passkey = await givePasskey(server, tenant, person);
      const path = `/passkeys/${passkey.id}`;
      assert.match(await textOf(await person.visitor.page(path)), /value="Laptop"[\s\S]*id="revoke-passkey"/);
      await textOf(await thief.visitor.page(path), 404);
      await textOf(await thief.visitor.submit(`${path}/rename`, { name: 'Mine' }), 404);
      await textOf(await thief.visitor.submit(`${path}/revoke`, {}), 404);
      for (const changes of [{ csrf: 'wrong' }, { origin: 'https://evil.example' }]) {
        await textOf(await person.visitor.submit(`${path}/rename`, { name: 'Forged' }, changes), 403);
        await textOf(await person.visitor.submit(`${path}/revoke`, {}, changes), 403);
        await textOf(await person.visitor.submit('/passkeys', { name: 'Forged', response: '{}' }, changes), 403);
      }
      assert.match(await textOf(await person.visitor.submit(`${path}/rename`, { name: ' ' }), 400), /at most 60 characters/);
      assert.equal((await person.visitor.submit(`${path}/rename`, { name: 'Desk' })).status, 303);
      assert.deepEqual(
        (await stored(person)).map((row) => row.name),
        ['Desk'],
      );
      assert.equal((await person.visitor.submit(`${path}/revoke`, {})).status, 303);
      await textOf(await person.visitor.submit(`${path}/revoke`, {}), 404);
      await textOf(await person.visitor.page(path), 404);
      assert.deepEqual(await stored(person), []);
      assert.deepEqual(await eventsOf(person), ['passkey.renamed', 'passkey.revoked']);
      const [mail] = await mailsTo(server, person.email);
      assert.equal(mail?.subject, `A passkey was removed from your ${tenant.name} account`);
      assert.match(await textOf(await person.visitor.page('/passkeys?done=donePasskeyRevoked')), /The passkey was revoked\./);
    });
  });
}
