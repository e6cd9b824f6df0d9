// Limits of SAML requests at n and n+1, over both bindings.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  samlAcsIndexMax,
  samlBodyBytesMax,
  samlEntityIdCharsMax,
  samlIssueInstantFutureMsMax,
  samlIssueInstantPastMsMax,
  samlMessageIdCharsMax,
  samlQueryBytesMax,
  samlRelayStateBytesMax,
  samlXmlLimits,
} from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import { assertRefusal } from '../support/refusal.ts';
import { assertStarted, openSamlIdp, type SamlIdp, samlFlags } from '../support/saml-idp.ts';
import { buildRedirectQuery } from '../support/saml-requests.ts';
import { startTestServer, type TestClock, type TestServer } from '../support/server.ts';

const issuer = 'https://limits.example/metadata';
const longIssuer = `https://limits.example/${'m'.repeat(samlEntityIdCharsMax - 23)}`;

/** Stands still, so that an instant can be met exactly. */
const startedAtMs = Date.now();
const stoppedClock: TestClock = { nowMs: () => startedAtMs, advance: async () => assert.fail('this clock stands still') };

for (const database of databases) {
  describe(`limits of SAML requests on ${database}`, () => {
    let server: TestServer;
    let idp: SamlIdp;
    before(async () => {
      server = await startTestServer(database, { flags: samlFlags, clock: stoppedClock });
      idp = await openSamlIdp(server);
      await idp.register({ entity_id: issuer, acs: [{ url: 'https://limits.example/acs', index: samlAcsIndexMax }] });
      await idp.register({ entity_id: longIssuer });
    });
    after(() => server.close());

    const refused = async (response: Response): Promise<string> => assertRefusal(response, 'saml.invalid_request');
    const at = (ms: number): string => new Date(startedAtMs + ms).toISOString();
    let ids = 0;
    const idOf = (length: number): string => {
      ids += 1;
      return `_${ids}`.padEnd(length, 'i');
    };

    it('samlMessageIdCharsMax', async () => {
      await assertStarted(await idp.redirect(idp.request({ issuer, id: idOf(samlMessageIdCharsMax) })));
      await refused(await idp.redirect(idp.request({ issuer, id: idOf(samlMessageIdCharsMax + 1) })));
    });

    it('samlEntityIdCharsMax', async () => {
      assert.equal(longIssuer.length, samlEntityIdCharsMax);
      await assertStarted(await idp.redirect(idp.request({ issuer: longIssuer })));
      await refused(await idp.redirect(idp.request({ issuer: `${longIssuer}m` })));
    });

    it('samlIssueInstantPastMsMax, samlIssueInstantFutureMsMax', async () => {
      for (const edge of [-samlIssueInstantPastMsMax, samlIssueInstantFutureMsMax])
        await assertStarted(await idp.redirect(idp.request({ issuer, issueInstant: at(edge) })));
      for (const beyond of [-samlIssueInstantPastMsMax - 1, samlIssueInstantFutureMsMax + 1])
        await refused(await idp.redirect(idp.request({ issuer, issueInstant: at(beyond) })));
    });

    it('samlAcsIndexMax', async () => {
      const indexed = (index: number): string => idp.request({ issuer, attributes: ` AssertionConsumerServiceIndex="${index}"` });
      await assertStarted(await idp.redirect(indexed(samlAcsIndexMax)));
      await refused(await idp.redirect(indexed(samlAcsIndexMax + 1)));
    });

    it('samlRelayStateBytesMax, in bytes of UTF-8, over both bindings', async () => {
      const state = (bytes: number): string => `é${'r'.repeat(bytes - 2)}`;
      await assertStarted(await idp.redirect(idp.request({ issuer }), { relayState: state(samlRelayStateBytesMax) }));
      await assertStarted(await idp.postXml(idp.request({ issuer }), state(samlRelayStateBytesMax)));
      await refused(await idp.redirect(idp.request({ issuer }), { relayState: state(samlRelayStateBytesMax + 1) }));
      await refused(await idp.postXml(idp.request({ issuer }), state(samlRelayStateBytesMax + 1)));
    });

    it('samlQueryBytesMax', async () => {
      const query = (bytes: number): string => `${buildRedirectQuery(idp.request({ issuer }))}&more=`.padEnd(bytes, 'x');
      await assertStarted(await idp.get(query(samlQueryBytesMax)));
      await refused(await idp.get(query(samlQueryBytesMax + 1)));
    });

    it('samlBodyBytesMax', async () => {
      const form = (bytes: number): string =>
        `SAMLRequest=${encodeURIComponent(Buffer.from(idp.request({ issuer })).toString('base64'))}&more=`.padEnd(bytes, 'x');
      await assertStarted(await idp.post(form(samlBodyBytesMax)));
      await refused(await idp.post(form(samlBodyBytesMax + 1)));
    });

    it('samlXmlLimits: bytes, elements, levels and attributes of a message', async () => {
      const extended = (inside: string): string =>
        idp.request({ issuer, content: `<samlp:Extensions xmlns:x="urn:x">${inside}</samlp:Extensions>` });
      const exact = (size: number, make: (count: number) => string): string => make(size);
      const spaces = (bytes: number): string => {
        const empty = extended('').length;
        const xml = extended(' '.repeat(bytes - empty));
        return xml.length === bytes ? xml : extended(' '.repeat(bytes - empty - (xml.length - bytes))); // the id grew by a digit
      };
      const { bytesMax, elementsMax, depthMax, attributesPerElementMax } = samlXmlLimits;
      for (const [max, make] of [
        [bytesMax, spaces],
        [elementsMax, (count: number) => extended('<x:e/>'.repeat(count - 3))],
        [depthMax, (count: number) => extended('<x:e>'.repeat(count - 2) + '</x:e>'.repeat(count - 2))],
        [attributesPerElementMax, (count: number) => extended(`<x:e${Array.from({ length: count }, (_, n) => ` a${n}=""`).join('')}/>`)],
      ] as const) {
        await assertStarted(await idp.postXml(exact(max, make)));
        await refused(await idp.postXml(exact(max + 1, make)));
      }
    });
  });
}
