// Attacks on sign-in with other providers (design 14, 2): each ends without a link to the victim's account and without a sign-in.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { openBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { openExternalWorld } from '../support/external.ts';
import { createUser } from '../support/fixtures.ts';
import { pinOf } from '../support/mailbox.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startUpstream, type TestUpstream } from '../support/upstream.ts';

for (const database of databases) {
  describe(`Linking attacks on ${database}`, async () => {
    const world = await openExternalWorld(database);
    const { server, managed, tenant, upstream, register, begin, post, jsonOf, leave, visit, finish, links } = world;
    let evil: TestUpstream;
    let bodies: string[] = [];
    before(async () => {
      evil = await startUpstream(server.clock.nowMs);
      await register({ create_users: true });
      await register({ alias: 'evil', name: 'Evil', create_users: true }, evil);
    });
    after(async () => {
      await upstream.close();
      await evil.close();
      await server.close();
    });
    afterEach(() => upstream.lie({}));
    let victims = 0;
    const victim = () => {
      victims += 1;
      return createUser(server.gatehouse.services, tenant, `victim${victims}@acme.example`);
    };
    const linksOf = async (userId: string) => (await links()).filter((link) => link.user_id === userId);
    const isRefused = async (response: Response): Promise<void> =>
      void bodies.push(await assertRefusal(response, 'login.external_refused'));
    const claimsOf = (email: string, sub = `attacker-${victims}`) => ({ sub, email, email_verified: true });

    it('1 a verified email of an account that exists signs nobody in and links nothing without a proof', async () => {
      const { id, email } = await victim();
      const at = await begin();
      assert.deepEqual(await jsonOf(await visit(at, claimsOf(email))), { state: 'choose', methods: ['email_pin'] });
      await assertRefusal(await post(at.browser, `${at.login}/finish`), 'login.conflict');
      assert.deepEqual(await linksOf(id), []);
    });

    it('2 an account registered beforehand with the victim’s email is not taken over by their own sign-in, nor shared', async () => {
      const squatter = await victim(); // made by somebody who does not own the mailbox, with a phone of theirs to come
      const at = await begin();
      await jsonOf(await visit(at, claimsOf(squatter.email, 'the-owner-of-the-mailbox')));
      assert.deepEqual(await linksOf(squatter.id), [], 'the owner must prove the account first');
    });

    it('3 an unverified email is proven by PIN first, and what it is of is not told', async () => {
      const { id, email } = await victim();
      const at = await begin();
      assert.deepEqual(await jsonOf(await visit(at, { ...claimsOf(email), email_verified: false })), { state: 'pin' });
      const stranger = await begin();
      assert.deepEqual(await jsonOf(await visit(stranger, { ...claimsOf('nobody@acme.example'), email_verified: 'true' })), {
        state: 'pin',
      });
      assert.deepEqual(await linksOf(id), []);
    });

    it('4 an email changed upstream to the victim’s leads to the attacker’s own account', async () => {
      const { id, email } = await victim();
      const own = claimsOf('attacker@evil.example', 'attacker-4');
      await jsonOf(await visit(await begin(), own));
      const at = await begin();
      await jsonOf(await visit(at, { ...own, email }));
      assert.notEqual((await finish(at))['sub'], id);
      assert.deepEqual(await linksOf(id), []);
    });

    it('4b an email asserted for an account without emails makes no browser known to that mailbox, whether somebody has it or nobody', async () => {
      const { email } = await victim();
      const known = (answer: Response): boolean => answer.headers.getSetCookie().some((line) => line.startsWith('gh-known-'));
      const end = async (at: Awaited<ReturnType<typeof begin>>): Promise<Response> => {
        const answer = await post(at.browser, `${at.login}/finish`);
        assert.equal(answer.status, 200);
        return answer;
      };
      const own = claimsOf('attacker4b@evil.example', 'attacker-4b');
      const first = await begin();
      await jsonOf(await visit(first, own));
      assert.equal(known(await end(first)), true, 'their own mailbox');
      const id = (await links()).find(({ subject }) => subject === own.sub)?.user_id;
      await managed.make('PATCH', `/users/${id}`, { emails: [] });
      for (const claimed of [email, 'somebody-to-come@acme.example']) {
        const at = await begin();
        await jsonOf(await visit(at, { ...own, email: claimed, email_verified: false }));
        assert.equal(known(await end(at)), false, claimed);
      }
    });

    it('5 the same subject at another issuer is another person', async () => {
      const { id, email } = await victim();
      const at = await begin();
      await jsonOf(await visit(at, claimsOf(email, 'shared-subject')));
      await jsonOf(await post(at.browser, `${at.login}/method`, { method: 'email_pin' }));
      await jsonOf(await post(at.browser, `${at.login}/pin`, { pin: await pinOf(server, email) }));
      await finish(at);
      assert.equal((await linksOf(id)).length, 1);
      const other = await begin();
      await jsonOf(await visit(other, claimsOf('other@evil.example', 'shared-subject'), evil, 'evil'));
      assert.notEqual((await finish(other))['sub'], id);
      assert.equal((await linksOf(id)).length, 1);
      upstream.lie({ claims: { iss: evil.issuer } });
      await isRefused(await visit(await begin(), claimsOf(email, 'shared-subject')));
    });

    it('6 a state is good once, also when its answers race, and never after ten minutes', async () => {
      const at = await begin();
      const callback = upstream.signIn(await leave(at), claimsOf('raced@acme.example', 'raced')).href;
      const answers = await Promise.all(Array.from({ length: 20 }, () => at.browser.send(callback)));
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      for (const answer of answers) if (answer.status !== 200) assert.ok([401, 409].includes(answer.status));
      const again = await begin();
      const used = upstream.signIn(await leave(again), claimsOf('x@acme.example', 'x'));
      upstream.lie({ tokenStatus: 400 });
      await isRefused(await again.browser.send(used.href));
      upstream.lie({});
      await isRefused(await again.browser.send(used.href));
      await isRefused(await again.browser.send(`${used.origin}${used.pathname}?code=1&state=unknown`));
      await isRefused(await again.browser.send(`${used.origin}${used.pathname}?code=1`));
      await isRefused(await again.browser.send(`${used.href}&state=two`));
      await isRefused(await again.browser.send(`${used.origin}${used.pathname}?code=1&state=${'s'.repeat(101)}`));
    });

    it('7 a callback in another browser than the one that left is refused, and the first may still return', async () => {
      const at = await begin();
      const callback = upstream.signIn(await leave(at), claimsOf('own@acme.example', 'own')).href;
      await isRefused(await openBrowser().send(callback));
      const other = await begin();
      await isRefused(await other.browser.send(callback));
      assert.deepEqual(await jsonOf(await at.browser.send(callback)), { state: 'approved' });
    });

    it('8 mix-up: an answer of one provider at the callback of another, or with the other’s iss or none, is refused', async () => {
      const at = await begin();
      const mixed = upstream.signIn(await leave(at), claimsOf('mixed@acme.example', 'mixed'));
      const tokensBefore = evil.calls.filter((path) => path === '/token').length;
      await isRefused(await at.browser.send(mixed.href.replace('/callback/acme', '/callback/evil')));
      assert.equal(evil.calls.filter((path) => path === '/token').length, tokensBefore, 'no code went to the other provider');
      for (const iss of [evil.issuer, undefined]) {
        const wrong = upstream.signIn(await leave(at), claimsOf('mixed@acme.example', 'mixed'));
        if (iss === undefined) wrong.searchParams.delete('iss');
        else wrong.searchParams.set('iss', iss);
        await isRefused(await at.browser.send(wrong.href));
      }
    });

    for (const [name, lie] of [
      ['9 a wrong nonce', { claims: { nonce: 'of-another-sign-in' } }],
      ['9 no nonce', { claims: { nonce: undefined } }],
      ['10 another audience', { claims: { aud: 'another-client' } }],
      ['10 two audiences, authorized for the other', { claims: { aud: ['gatehouse', 'other'], azp: 'other' } }],
      ['11 alg none', { alg: 'none' }],
      ['11 HS256 with the public key', { alg: 'HS256' }],
      ['11 a key that is not the provider’s', { alg: 'foreign' }],
      ['12 an expired ID token', { claims: { exp: 1_700_000_000 } }],
      ['12 no subject', { claims: { sub: undefined } }],
      ['12 a subject beyond the limit', { claims: { sub: 's'.repeat(1025) } }],
    ] as const)
      it(`${name} is refused`, async () => {
        const { id, email } = await victim();
        upstream.lie(lie);
        const at = await begin();
        await isRefused(await visit(at, claimsOf(email)));
        await assertRefusal(await post(at.browser, `${at.login}/finish`), 'login.conflict');
        assert.deepEqual(await linksOf(id), []);
      });

    it('a subject at the limit is somebody', async () => {
      assert.equal((await visit(await begin(), claimsOf('long@acme.example', 's'.repeat(1024)))).status, 200);
    });

    it('sign-ins of one new person at once make one account and one link', async () => {
      const claims = claimsOf('twice@acme.example', 'twice');
      const all = await Promise.all(Array.from({ length: 8 }, () => begin()));
      const callbacks = await Promise.all(all.map(async (at) => upstream.signIn(await leave(at), claims).href));
      const answers = await Promise.all(all.map((at, index) => at.browser.send(callbacks[index]!)));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      const subjects = new Set(await Promise.all(all.map(async (at) => (await finish(at))['sub'])));
      assert.equal(subjects.size, 1);
      assert.equal((await links()).filter(({ subject }) => subject === 'twice').length, 1);
    });

    it('going back to somebody else leaves nobody to link', async () => {
      const [first, second] = [await victim(), await victim()];
      const at = await begin();
      await jsonOf(await visit(at, claimsOf(first.email, 'left-behind')));
      await jsonOf(await post(at.browser, `${at.login}/identify`, { identifier: second.email }));
      await jsonOf(await post(at.browser, `${at.login}/method`, { method: 'email_pin' }));
      await jsonOf(await post(at.browser, `${at.login}/pin`, { pin: await pinOf(server, second.email) }));
      await finish(at);
      assert.deepEqual([...(await linksOf(first.id)), ...(await linksOf(second.id))], []);
    });

    it('an account with a phone is proven by the phone, never by the mailbox', async () => {
      const { id, email } = await victim();
      await givePhone(id);
      for (const verified of [true, false]) {
        const at = await begin();
        const answer = await jsonOf(await visit(at, { ...claimsOf(email), email_verified: verified }));
        const proven = verified ? answer : await jsonOf(await post(at.browser, `${at.login}/pin`, { pin: await pinOf(server, email) }));
        assert.deepEqual(proven, { state: 'choose', methods: ['phone'] });
        await assertRefusal(await post(at.browser, `${at.login}/method`, { method: 'email_pin' }), 'login.invalid_request', {
          kind: 'method',
          text: /^method: expected phone/,
        });
        await server.clock.advance(2000);
      }
      assert.deepEqual(await linksOf(id), []);
    });

    it('every refusal was one answer, and the reasons are in the audit trail', async () => {
      assert.equal(new Set(bodies).size, 1);
      assert.ok(bodies.length > 18);
      bodies = [];
      const { items } = await managed.make<{ items: readonly { readonly type: string; readonly reason: string | null }[] }>(
        'GET',
        '/events?type=external_login.failed&limit=200',
      );
      assert.ok(items.every(({ reason }) => typeof reason === 'string' && reason !== ''));
      assert.ok(new Set(items.map(({ reason }) => reason)).size > 3);
    });

    const givePhone = (userId: string): Promise<unknown> =>
      server.gatehouse.services.database.write(tenant.id, (queries) =>
        queries
          .insertInto('devices')
          .values({
            tenant_id: tenant.id,
            id: `device-of-${userId}`,
            user_id: userId,
            state: 'active',
            platform: 'ios',
            name: 'Phone',
            push_provider: 'none',
            created_at: 0,
          } as never)
          .execute(),
      );
  });
}
