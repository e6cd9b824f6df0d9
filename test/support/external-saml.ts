// A tenant with a SAML provider to sign in with, and browsers that bring its answers: the post comes from another site, so without a
// cookie; the redirect that follows is the browser's own.
import type { Flags } from '../../src/config.ts';
import type { databases } from './databases.ts';
import { openExternalWorld, type Visit } from './external.ts';
import type { Json } from './management.ts';
import { type AskedBy, buildResponse, type Changes, idpMetadata, readAsked, signElement } from './saml-upstream.ts';

export type SamlWorld = Awaited<ReturnType<typeof openSamlWorld>>;

export async function openSamlWorld(database: (typeof databases)[number], flags: Flags = {}) {
  const world = await openExternalWorld(database, flags);
  const { server, managed, tenant, leave } = world;
  await world.upstream.close();
  const nowMs = server.clock.nowMs;
  const callback = `${tenant.baseUrl}/login/callback/corp`;
  const registerSaml = async (fields: Json = {}): Promise<Json & { readonly id: string }> =>
    managed.make('POST', '/identity-providers', {
      alias: 'corp',
      kind: 'saml',
      name: 'Corp',
      metadata: await idpMetadata(),
      trust_email: true,
      ...fields,
    });
  /** Leaves for the provider; gives what it is asked. */
  const ask = async (at: Visit, alias = 'corp'): Promise<AskedBy> => readAsked(await leave(at, alias));
  /** What the provider's page posts, as a browser that carries no cookie to it. */
  const deliver = (xml: string, relayState: string, to = callback): Promise<Response> =>
    fetch(to, {
      method: 'POST',
      redirect: 'manual',
      headers: { accept: 'application/json', origin: 'https://idp.acme.example' },
      body: new URLSearchParams({ SAMLResponse: Buffer.from(xml).toString('base64'), RelayState: relayState }),
    });
  /** Delivers and follows, as one browser. */
  const bring = async (at: Visit, asked: AskedBy, xml: string): Promise<Response> => {
    const kept = await deliver(xml, asked.relayState);
    return kept.status === 303 ? at.browser.send(kept.headers.get('location') ?? '') : kept;
  };
  /** There and back with an answer that is right but for the changes. */
  const come = async (at: Visit, changes: Changes = {}): Promise<Response> => {
    const asked = await ask(at);
    return bring(at, asked, signElement(buildResponse(asked, nowMs(), changes), 'Assertion'));
  };
  return { ...world, nowMs, callback, registerSaml, ask, deliver, bring, come };
}
