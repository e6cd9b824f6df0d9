// Limits of sign-in with other providers at n and n + 1.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import {
  domainCharsMax,
  externalAnswerBytesMax,
  externalLoginSeconds,
  externalStateCharsMax,
  externalSubjectCharsMax,
  providerAliasCharsMax,
  providerAnswerBytesMax,
  providerDomainsMax,
  providerMapEntriesMax,
  providerMetadataCharsMax,
  providerSecretCharsMax,
  providersPerTenantMax,
  providerTenantsMax,
  samlClockToleranceSeconds,
  samlResponseXmlLimits,
} from '../../src/contract/limits.ts';
import { openExternalWorld } from '../support/external.ts';
import { openSamlWorld } from '../support/external-saml.ts';
import { createTestTenant } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { buildResponse, idpMetadata, signElement } from '../support/saml-upstream.ts';
import { startUpstream } from '../support/upstream.ts';

const entries = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`claim-${at}`, 'title']));
const domains = (count: number): string[] => Array.from({ length: count }, (_, at) => `d${at}.example`);
/** Of labels of 60. */
const longDomain = (size: number): string =>
  `${`${'a'.repeat(60)}.`
    .repeat(10)
    .slice(0, size - 8)
    .replace(/\.$/, 'b')}.example`;
const directories = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`);

describe('Limits of other providers', async () => {
  const world = await openExternalWorld('sqlite');
  const { server, managed, tenant, upstream, register, begin, leave, visit, jsonOf } = world;
  after(async () => {
    await upstream.close();
    await server.close();
  });
  let made = 0;
  const provider = (fields: object): object => {
    made += 1;
    return { alias: `p-${made}`, kind: 'oidc', name: 'P', issuer: 'https://p.example', client_id: 'x', ...fields };
  };

  for (const [name, field, max, of] of [
    ['providerAliasCharsMax', 'alias', providerAliasCharsMax, (size: number) => ({ alias: 'a'.repeat(size) })],
    ['providerSecretCharsMax', 'client_secret', providerSecretCharsMax, (size: number) => ({ client_secret: 's'.repeat(size) })],
    ['providerMapEntriesMax', 'attribute_map', providerMapEntriesMax, (size: number) => ({ attribute_map: entries(size) })],
    ['providerDomainsMax', 'domains', providerDomainsMax, (size: number) => ({ domains: domains(size) })],
    ['domainCharsMax', 'domains', domainCharsMax, (size: number) => ({ domains: [longDomain(size)] })],
    [
      'providerTenantsMax',
      'tenants',
      providerTenantsMax,
      (size: number) => ({ issuer: 'https://p.example/{tenantid}', tenants: directories(size) }),
    ],
  ] as const)
    it(name, async () => {
      assert.equal((await managed.call('POST', '/identity-providers', provider(of(max)))).status, 201);
      await assertRefusal(await managed.call('POST', '/identity-providers', provider(of(max + 1))), 'management.invalid_request', {
        kind: field,
        text: /./ as never,
      });
    });

  it('providersPerTenantMax', async () => {
    const other = await createTestTenant(server);
    for (let at = 0; at < providersPerTenantMax; at += 1) await other.make('POST', '/identity-providers', provider({}));
    await assertRefusal(await other.call('POST', '/identity-providers', provider({})), 'management.invalid_request', {
      kind: 'alias',
      text: `alias: A tenant has at most ${providersPerTenantMax} providers.`.slice('alias: '.length),
    });
  });

  it('externalStateCharsMax and externalSubjectCharsMax: whatever is longer is refused', async () => {
    await register({ create_users: true });
    const { browser } = await begin();
    for (const size of [externalStateCharsMax, externalStateCharsMax + 1])
      await assertRefusal(
        await browser.send(`${tenant.baseUrl}/login/callback/acme?code=1&state=${'s'.repeat(size)}`),
        'login.external_refused',
      );
    const claims = { email: 'long@acme.example', email_verified: true };
    assert.equal((await visit(await begin(), { ...claims, sub: 's'.repeat(externalSubjectCharsMax) })).status, 200);
    await assertRefusal(await visit(await begin(), { ...claims, sub: 's'.repeat(externalSubjectCharsMax + 1) }), 'login.external_refused');
  });

  it('providerAnswerBytesMax: a larger answer is no answer', async () => {
    for (const [extra, status] of [
      [0, 200],
      [1, 503],
    ] as const) {
      const large = await startUpstream(server.clock.nowMs);
      large.padMetadata(providerAnswerBytesMax + extra);
      await register({ alias: `large-${extra}` }, large);
      const at = await begin();
      const response = await world.post(at.browser, `${at.login}/external`, { alias: `large-${extra}` });
      if (status === 200) await jsonOf(response);
      else await assertRefusal(response, 'login.external_unavailable');
      await large.close();
    }
  });

  it('externalLoginSeconds: an answer in time, and one a second late', async () => {
    await managed.make('PATCH', '/settings', { login_lifetime_seconds: 900 });
    for (const [seconds, status] of [
      [externalLoginSeconds - 5, 200],
      [externalLoginSeconds + 1, 401],
    ] as const) {
      const at = await begin();
      const there = await leave(at);
      await server.clock.advance(seconds * 1000);
      const back = await at.browser.send(upstream.signIn(there, { sub: 'slow', email: 'slow@acme.example', email_verified: true }).href);
      assert.equal(back.status, status);
    }
  });
});

describe('Limits of SAML providers', async () => {
  const world = await openSamlWorld('sqlite');
  const { server, managed, callback, registerSaml, begin, ask, bring, come, nowMs } = world;
  after(() => server.close());
  const person = { nameId: 'sized', email: 'sized@corp.example' };

  it('providerMetadataCharsMax: metadata of so many characters, and one more', async () => {
    const metadata = await idpMetadata();
    const sized = (size: number): string => metadata.replace('entityID', `${' '.repeat(size - metadata.length)}entityID`);
    await registerSaml({ create_users: true, metadata: sized(providerMetadataCharsMax) });
    const refused = await managed.call('POST', '/identity-providers', {
      alias: 'large',
      kind: 'saml',
      name: 'Large',
      metadata: sized(providerMetadataCharsMax + 1),
    });
    await assertRefusal(refused, 'management.invalid_request', { kind: 'metadata', text: /./ as never });
  });

  it('externalAnswerBytesMax: a form of so many bytes is kept, one more is too large', async () => {
    for (const [extra, status] of [
      [0, 303],
      [1, 413],
    ] as const) {
      const { relayState } = await ask(await begin());
      const form = `RelayState=${relayState}&SAMLResponse=`;
      const body = form.padEnd(externalAnswerBytesMax + extra, 'A');
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      assert.equal((await fetch(callback, { method: 'POST', redirect: 'manual', headers, body })).status, status);
    }
  });

  it('samlResponseXmlLimits: bytes, elements, levels, attributes and namespaces of an answer', async () => {
    const { bytesMax, elementsMax, depthMax, attributesPerElementMax, namespaceDeclarationsMax } = samlResponseXmlLimits;
    const within = (inside: string) => async (): Promise<number> => {
      const at = await begin();
      const asked = await ask(at);
      const attributes = `<saml:Attribute Name="x">${inside}</saml:Attribute>`;
      return (await bring(at, asked, signElement(buildResponse(asked, nowMs(), { ...person, attributes }), 'Assertion'))).status;
    };
    const filled = async (extra: number): Promise<number> => {
      const at = await begin();
      const asked = await ask(at);
      const signed = signElement(buildResponse(asked, nowMs(), person), 'Assertion');
      return (
        await bring(
          at,
          asked,
          signed.replace('<samlp:Status>', `<samlp:Status${' '.repeat(bytesMax + extra - Buffer.byteLength(signed))}>`),
        )
      ).status;
    };
    assert.deepEqual([await filled(0), await filled(1)], [200, 401]);
    const plain = await ask(await begin()).then((asked) =>
      signElement(buildResponse(asked, nowMs(), { ...person, attributes: '<saml:Attribute Name="x"></saml:Attribute>' }), 'Assertion'),
    );
    const countOf = (pattern: RegExp): number => plain.match(pattern)?.length ?? 0;
    const values = (count: number): string => '<saml:AttributeValue>v</saml:AttributeValue>'.repeat(count);
    const room = elementsMax - countOf(/<[a-z]/g);
    assert.deepEqual([await within(values(room))(), await within(values(room + 1))()], [200, 401]);
    const levels = (depth: number): string => `${'<saml:AttributeValue>'.repeat(depth)}${'</saml:AttributeValue>'.repeat(depth)}`;
    const above = 4; // Response, Assertion, AttributeStatement, Attribute
    assert.deepEqual([await within(levels(depthMax - above))(), await within(levels(depthMax - above + 1))()], [200, 401]);
    const many = (count: number): string =>
      `<saml:AttributeValue${Array.from({ length: count }, (_, at) => ` a${at}="1"`).join('')}>v</saml:AttributeValue>`;
    assert.deepEqual([await within(many(attributesPerElementMax))(), await within(many(attributesPerElementMax + 1))()], [200, 401]);
    const declared = (count: number): string =>
      `<saml:AttributeValue${Array.from({ length: count }, (_, at) => ` xmlns:n${at}="urn:${at}"`).join('')}>v</saml:AttributeValue>`;
    const free = namespaceDeclarationsMax - countOf(/ xmlns[:=]/g);
    assert.deepEqual([await within(declared(free))(), await within(declared(free + 1))()], [200, 401]);
  });

  it('samlClockToleranceSeconds: a clock that is so far behind, and a second more', async () => {
    const behind = (seconds: number) => ({ ...person, nameId: 'behind', notBeforeMs: nowMs() + seconds * 1000 });
    assert.equal((await come(await begin(), behind(samlClockToleranceSeconds))).status, 200);
    await assertRefusal(await come(await begin(), behind(samlClockToleranceSeconds + 1)), 'login.external_refused');
  });
});
