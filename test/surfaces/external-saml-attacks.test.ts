// Attacks on sign-in with a SAML provider (design 14, 2): each ends without a sign-in and without a link, in one answer for all of them.
import assert from 'node:assert/strict';
import { constants, X509Certificate } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { openBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { openSamlWorld } from '../support/external-saml.ts';
import { createUser } from '../support/fixtures.ts';
import { assertRefusal } from '../support/refusal.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { type AskedBy, buildResponse, type Changes, certificatesIn, encryptAssertion, signElement } from '../support/saml-upstream.ts';

const signatureIn = (xml: string): string => /<ds:Signature .*?<\/ds:Signature>/s.exec(xml)?.[0] ?? assert.fail('no signature');
const assertionIn = (xml: string): string => /<saml:Assertion .*<\/saml:Assertion>/s.exec(xml)?.[0] ?? assert.fail('no assertion');
const attacker = rsaKeys('attacker');

for (const database of databases) {
  describe(`Attacks by SAML on ${database}`, async () => {
    const world = await openSamlWorld(database);
    const { server, managed, tenant, callback, registerSaml, begin, ask, deliver, bring, come, finish, jsonOf, post, links, nowMs } = world;
    const bodies = new Set<string>();
    let encryption: X509Certificate;
    before(async () => {
      await registerSaml({ create_users: true });
      await registerSaml({ alias: 'other', name: 'Other', create_users: true });
      const [certificate = ''] = certificatesIn(await (await fetch(`${callback}/metadata`)).text(), 'encryption');
      encryption = new X509Certificate(Buffer.from(certificate, 'base64'));
    });
    after(() => server.close());
    const isRefused = async (response: Response): Promise<void> => void bodies.add(await assertRefusal(response, 'login.external_refused'));
    const lastReason = async (): Promise<string | null> => {
      const { items } = await managed.make<{ items: readonly { readonly reason: string | null }[] }>(
        'GET',
        '/events?type=external_login.failed&limit=1',
      );
      return items[0]?.reason ?? null;
    };
    const sign = (xml: string): string => signElement(xml, 'Assertion');
    const build = (asked: AskedBy, changes: Changes = {}): string => buildResponse(asked, nowMs(), { nameId: 'victim', ...changes });
    const evilIn = (asked: AskedBy, good: string): string =>
      assertionIn(build(asked, { nameId: 'evil', assertionId: '_evil', inResponseTo: asked.id })).replace(signatureIn(good), '');

    // Each value wrong in an assertion that is signed as it should be.
    const values: readonly (readonly [what: string, reason: string | RegExp, changes: (asked: AskedBy) => Changes])[] = [
      ['another issuer of the assertion', 'issuer', () => ({ issuer: 'https://evil.example' })],
      ['another issuer of the response', 'issuer', () => ({ responseIssuer: 'https://evil.example' })],
      ['another audience', 'audience', () => ({ audience: 'https://other.example' })],
      ['the audience of another provider of ours', 'audience', ({ issuer }) => ({ audience: issuer.replace('/corp/', '/other/') })],
      ['an audience that only begins like ours', 'audience', ({ issuer }) => ({ audience: `${issuer}.evil.example` })],
      [
        'a second restriction to somebody else',
        'audience',
        () => ({ conditions: '<saml:AudienceRestriction><saml:Audience>urn:x</saml:Audience></saml:AudienceRestriction>' }),
      ],
      [
        'a condition nobody knows',
        'unknown_condition',
        () => ({ conditions: '<saml:Condition xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="x"/>' }),
      ],
      ['another recipient', 'recipient', () => ({ recipient: 'https://evil.example/acs' })],
      ['the recipient of another provider of ours', 'recipient', ({ acsUrl }) => ({ recipient: acsUrl.replace('/corp', '/other') })],
      ['no recipient', 'recipient', () => ({ recipient: undefined })],
      ['another destination', 'destination', () => ({ destination: 'https://evil.example/acs' })],
      ['an answer to another request', 'in_response_to', () => ({ inResponseTo: '_other' })],
      ['an assertion for another request', 'in_response_to', () => ({ confirmedInResponseTo: '_other' })],
      ['nothing asked for: no InResponseTo', 'unsolicited', () => ({ inResponseTo: undefined })],
      ['nothing asked for: no InResponseTo in the assertion', 'unsolicited', () => ({ confirmedInResponseTo: undefined })],
      ['no bearer', 'no_bearer_confirmation', () => ({ method: 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key' })],
      ['over', 'expired', () => ({ notOnOrAfterMs: nowMs() - 60_000 })],
      ['not yet', 'not_yet_valid', () => ({ notBeforeMs: nowMs() + 61_000 })],
      ['a confirmation that is over', 'confirmation_expired', () => ({ confirmedUntilMs: nowMs() - 60_000 })],
      ['issued in the future', 'issue_instant', () => ({ issueInstantMs: nowMs() + 61_000 })],
      ['signed in in the future', 'authn_statement', () => ({ authnInstantMs: nowMs() + 61_000 })],
      [
        'a session there that is over',
        'session_expired',
        () => ({ statement: ` SessionNotOnOrAfter="${new Date(nowMs() - 61_000).toISOString()}"` }),
      ],
      ['a name that is new each time', 'transient_name_id', () => ({ format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' })],
      ['an empty name', 'no_name_id', () => ({ nameId: ' ' })],
      ['a name beyond the limit', 'subject_too_long', () => ({ nameId: 'n'.repeat(1025) })],
      ['SAML 1.1', 'version', () => ({ version: '1.1' })],
      [
        'a failure there',
        'status_Responder_AuthnFailed',
        () => ({
          status:
            '<samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Responder"><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:AuthnFailed"/></samlp:StatusCode>',
        }),
      ],
      ['no status', 'status_shape', () => ({ status: '' })],
    ];
    for (const [what, reason, changes] of values)
      it(`${what} is refused`, async () => {
        const at = await begin();
        const asked = await ask(at);
        await isRefused(await bring(at, asked, sign(build(asked, changes(asked)))));
        assert.equal(await lastReason(), reason);
        await assertRefusal(await post(at.browser, `${at.login}/finish`), 'login.conflict');
      });

    it('times at the tolerance are good still', async () => {
      for (const changes of [
        { notOnOrAfterMs: nowMs() - 59_000 },
        { notBeforeMs: nowMs() + 60_000 },
        { confirmedUntilMs: nowMs() - 59_000 },
        { issueInstantMs: nowMs() + 60_000 },
        { nameId: 'n'.repeat(1024), email: 'long-name@corp.example' },
      ])
        assert.equal((await come(await begin(), { nameId: 'in-time', email: 'in-time@corp.example', ...changes })).status, 200);
    });

    // What is signed, by whom, and where the signature stands: the vectors of test/unit/xml-signature.test.ts in the shape of answers.
    const forgeries: readonly (readonly [what: string, reason: string, forge: (asked: AskedBy) => string])[] = [
      ['no signature', 'signature_missing', (asked) => build(asked)],
      ['a signature of the Response alone', 'signature_missing', (asked) => signElement(build(asked), 'Response')],
      ['a key of nobody', 'signature_mismatch', (asked) => signElement(build(asked), 'Assertion', { key: attacker.privateKey })],
      [
        'a Response of somebody else around a good assertion',
        'signature_mismatch',
        (asked) => signElement(sign(build(asked)), 'Response', { key: attacker.privateKey }),
      ],
      ['a changed name', 'digest_mismatch', (asked) => sign(build(asked)).replace('>victim<', '>admin<')],
      ['a name cut by a comment', 'comment', (asked) => sign(build(asked)).replace('>victim<', '>admin<!-- -->victim<')],
      [
        'SHA-1',
        'signature_algorithm',
        (asked) => signElement(build(asked), 'Assertion', { signatureAlgorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }),
      ],
      [
        'a SHA-1 digest',
        'signature_algorithm',
        (asked) => signElement(build(asked), 'Assertion', { digestAlgorithm: 'http://www.w3.org/2000/09/xmldsig#sha1' }),
      ],
      ['a DOCTYPE', 'doctype', (asked) => `<!DOCTYPE r [<!ENTITY x "y">]>${sign(build(asked))}`],
      ['an instruction', 'processing_instruction', (asked) => `<?xml-stylesheet href="x"?>${sign(build(asked))}`],
      [
        'no Response',
        'not_a_response',
        (asked) =>
          assertionIn(sign(build(asked))).replace(
            '<saml:Assertion ',
            '<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ',
          ),
      ],
      ['XSW 1: the evil assertion before the signed one', 'content_model', (asked) => wrap(asked, (good, evil) => evil + good)],
      ['XSW 2: the evil assertion behind the signed one', 'content_model', (asked) => wrap(asked, (good, evil) => good + evil)],
      [
        'XSW 3: the signed one in the evil one, with the signature',
        'signature_misplaced',
        (asked) => wrap(asked, (good, evil) => evil.replace('</saml:Assertion>', `<saml:Advice>${good}</saml:Advice></saml:Assertion>`)),
      ],
      [
        'XSW 4: the evil one takes the signature, and holds the original in it',
        'signature_shape',
        (asked) =>
          wrap(asked, (good, evil) => {
            const [signature, bare] = [signatureIn(good), good.replace(signatureIn(good), '')];
            return evil.replace(
              '</saml:Issuer>',
              `</saml:Issuer>${signature.replace('</ds:Signature>', `<ds:Object>${bare}</ds:Object></ds:Signature>`)}`,
            );
          }),
      ],
      [
        'XSW 5: the evil one takes the signature, the original stands in its advice',
        'signature_reference',
        (asked) =>
          wrap(asked, (good, evil) => {
            const [signature, bare] = [signatureIn(good), good.replace(signatureIn(good), '')];
            return evil
              .replace('</saml:Issuer>', `</saml:Issuer>${signature}`)
              .replace('</saml:Assertion>', `<saml:Advice>${bare}</saml:Advice></saml:Assertion>`);
          }),
      ],
      [
        'XSW 6: the evil one has the ID of the original',
        'duplicate_id',
        (asked) =>
          wrap(asked, (good, evil) => {
            const [signature, bare] = [signatureIn(good), good.replace(signatureIn(good), '')];
            const id = / ID="([^"]*)"/.exec(good)?.[1] ?? '';
            return evil
              .replace('_evil', id)
              .replace('</saml:Issuer>', `</saml:Issuer>${signature}`)
              .replace('</saml:Assertion>', `<saml:Advice>${bare}</saml:Advice></saml:Assertion>`);
          }),
      ],
      [
        'XSW 7: the signed one in Extensions',
        'signature_misplaced',
        (asked) =>
          wrap(asked, (_good, evil) => evil).replace(
            '<samlp:Status>',
            () => `<samlp:Extensions>${assertionIn(sign(build(asked)))}</samlp:Extensions><samlp:Status>`,
          ),
      ],
      [
        'XSW 8: the signed one in an Object of the evil one’s empty signature',
        'signature_misplaced',
        (asked) =>
          wrap(asked, (good, evil) =>
            evil.replace(
              '</saml:Issuer>',
              `</saml:Issuer><ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:Object>${good}</ds:Object></ds:Signature>`,
            ),
          ),
      ],
      [
        'two signatures of one assertion',
        'signature_misplaced',
        (asked) => sign(build(asked)).replace(/(<ds:Signature .*<\/ds:Signature>)/s, '$1$1'),
      ],
      ['encrypted without a signature in it', 'signature_missing', (asked) => encryptAssertion(build(asked), encryption.publicKey)],
      [
        'encrypted, the Response signed and the assertion not',
        'signature_missing',
        (asked) => signElement(encryptAssertion(build(asked), encryption.publicKey), 'Response'),
      ],
      ['encrypted for somebody else', 'decryption_failed', (asked) => encryptAssertion(sign(build(asked)), attacker.publicKey)],
      [
        'encrypted content with a flipped bit',
        'decryption_failed',
        (asked) =>
          encryptAssertion(sign(build(asked)), encryption.publicKey).replace(
            /(<xenc:CipherValue>)(.)([^<]*<\/xenc:CipherValue><\/xenc:CipherData><\/xenc:EncryptedData>)/,
            (_all, open, first, rest) => `${open}${first === 'A' ? 'B' : 'A'}${rest}`,
          ),
      ],
      [
        'a key carried by RSA 1.5',
        'encryption_algorithm http://www.w3.org/2001/04/xmlenc#rsa-1_5',
        (asked) =>
          encryptAssertion(sign(build(asked)), encryption.publicKey, {
            transport: 'http://www.w3.org/2001/04/xmlenc#rsa-1_5',
            padding: constants.RSA_PKCS1_PADDING,
          }),
      ],
      [
        'CBC',
        'encryption_algorithm http://www.w3.org/2001/04/xmlenc#aes256-cbc',
        (asked) => encryptAssertion(sign(build(asked)), encryption.publicKey, { named: 'http://www.w3.org/2001/04/xmlenc#aes256-cbc' }),
      ],
    ];
    function wrap(asked: AskedBy, join: (good: string, evil: string) => string): string {
      const signed = sign(build(asked));
      const good = assertionIn(signed);
      return signed.replace(good, () => join(good, evilIn(asked, good)));
    }
    for (const [what, reason, forge] of forgeries)
      it(`${what} is refused`, async () => {
        const before = await links();
        const at = await begin();
        const asked = await ask(at);
        await isRefused(await bring(at, asked, forge(asked)));
        assert.equal(await lastReason(), reason);
        assert.deepEqual(await links(), before);
      });

    it('a certificate in KeyInfo is not read', async () => {
      const pem = (await certificatePem(attacker)).replace(/-.*-\n|\n/g, '');
      const info = `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${pem}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`;
      const at = await begin();
      const asked = await ask(at);
      const forged = signElement(build(asked), 'Assertion', { key: attacker.privateKey }).replace(
        '</ds:SignatureValue>',
        `</ds:SignatureValue>${info}`,
      );
      await isRefused(await bring(at, asked, forged));
      assert.equal(await lastReason(), 'signature_mismatch');
    });

    it('an answer is taken once, also when it is delivered and fetched many times at once', async () => {
      const at = await begin();
      const asked = await ask(at);
      const xml = sign(build(asked, { nameId: 'raced', email: 'raced@corp.example' }));
      const kept = await Promise.all(Array.from({ length: 10 }, () => deliver(xml, asked.relayState)));
      assert.equal(kept.filter(({ status }) => status === 303).length, 1);
      for (const one of kept) if (one.status !== 303) await isRefused(one);
      const location = kept.find(({ status }) => status === 303)?.headers.get('location') ?? '';
      const fetched = await Promise.all(Array.from({ length: 10 }, () => at.browser.send(location)));
      assert.equal(fetched.filter(({ status }) => status === 200).length, 1);
      for (const one of fetched) assert.ok([200, 401, 409].includes(one.status));
      await isRefused(await deliver(xml, asked.relayState));
      const again = await begin();
      const other = await ask(again);
      await isRefused(await bring(again, other, xml));
      assert.equal(await lastReason(), 'in_response_to');
    });

    it('an answer that the victim’s browser brought is not for whoever began the sign-in', async () => {
      const { id } = await createUser(server.gatehouse.services, tenant, 'ada@corp.example');
      const evil = await begin();
      const asked = await ask(evil);
      const kept = await deliver(sign(build(asked, { nameId: 'ada', email: 'ada@corp.example' })), asked.relayState);
      const location = new URL(kept.headers.get('location') ?? '');
      await assertRefusal(await openBrowser().send(location.href), 'login.not_found', undefined);
      // Whoever began knows the state, and holds the cookie, but not the key the victim's browser was given.
      for (const key of ['', 'guessed', asked.relayState]) {
        const without = new URL(location);
        without.searchParams.set('answer', key);
        const answer = await evil.browser.send(without.href);
        if (key === '') assert.deepEqual((await jsonOf(answer))['state'], 'identify');
        else await isRefused(answer);
      }
      await assertRefusal(await post(evil.browser, `${evil.login}/finish`), 'login.conflict');
      const other = await begin();
      await isRefused(await other.browser.send(`${other.login}${location.search}`));
      assert.deepEqual(
        (await links()).filter((link) => link.user_id === id),
        [],
      );
    });

    it('the answer of one provider is none at another with the same metadata', async () => {
      const at = await begin();
      const asked = await ask(at);
      const there = await ask(at, 'other');
      await isRefused(await bring(at, { ...there, relayState: there.relayState }, sign(build(asked))));
    });

    it('a provider that was disabled meanwhile lets nobody in', async () => {
      const own = await registerSaml({ alias: 'going' });
      const at = await begin();
      const asked = await ask(at, 'going');
      const kept = await deliver(sign(build(asked)), asked.relayState, callback.replace('/corp', '/going'));
      await managed.make('PATCH', `/identity-providers/${own.id}`, { enabled: false });
      await isRefused(await at.browser.send(kept.headers.get('location') ?? ''));
    });

    // Last: the management token ends with the time that passes here.
    it('the state decides: none, an unknown, a doubled, a too long one, one of another provider, and one after ten minutes', async () => {
      const at = await begin();
      const asked = await ask(at);
      const xml = sign(build(asked));
      for (const state of ['', 'unknown', 's'.repeat(100), 's'.repeat(101)]) await isRefused(await deliver(xml, state));
      const twice = `RelayState=${asked.relayState}&RelayState=${asked.relayState}&SAMLResponse=${encodeURIComponent(Buffer.from(xml).toString('base64'))}`;
      const headers = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' };
      await isRefused(await fetch(callback, { method: 'POST', headers, body: twice, redirect: 'manual' }));
      await isRefused(await deliver(xml, asked.relayState, callback.replace('/corp', '/other')));
      await isRefused(await at.browser.send(`${callback}?state=${asked.relayState}&SAMLResponse=x`));
      await assertRefusal(await deliver(xml, asked.relayState, callback.replace('/corp', '/nobody')), 'login.not_found');
      assert.equal((await bring(at, asked, sign(build(asked, { nameId: 'late', email: 'late@corp.example' })))).status, 200);
      await managed.make('PATCH', '/settings', { login_lifetime_seconds: 900 });
      const slow = await begin();
      const once = await ask(slow);
      await server.clock.advance(601_000);
      await isRefused(await deliver(sign(build(once)), once.relayState));
    });

    it('every refusal was one answer', () => assert.equal(bodies.size, 1));

    it('somebody who is signed in by all this is who they are', async () => {
      const at = await begin();
      await jsonOf(await come(at, { nameId: 'in-time' }));
      assert.ok((await finish(at))['sub']);
    });
  });
}
