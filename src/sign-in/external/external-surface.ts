// {base_url}/login/callback/{alias}: where other providers send people back, tell of sign-outs, and read our SAML metadata. A surface of
// its own because their answers by form post are larger than anything a sign-in page takes, and come from other sites.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import { externalAnswerBytesMax } from '../../contract/limits.ts';
import { metadataOf } from '../../federation/saml/idp-metadata.ts';
import { writeSpMetadata } from '../../federation/saml/sp-metadata.ts';
import { wantsJson } from '../../http/page-request.ts';
import type { Services } from '../../http/services.ts';
import { registerSurface } from '../../http/surface.ts';
import { samlKeysOf } from '../../tokens/saml-keys.ts';
import { pageOf, presentLogin, redirect, sendJson } from '../login-surface.ts';
import { takeExternalLogout } from './external-logout.ts';
import { anyProviderOf, keepFormAnswer, returnFromExternal } from './external-return.ts';
import { upstreamOf } from './external-steps.ts';

export function registerExternal(app: FastifyInstance, services: Services): void {
  registerSurface(
    app,
    services,
    {
      name: 'login',
      envelope: 'management',
      prefix: '/login/callback',
      bodies: { 'application/x-www-form-urlencoded': 'form', 'application/json': 'raw' },
      bodyBytesMax: externalAnswerBytesMax,
      ofTenant: true,
      isPages: true,
      present: presentLogin(services),
    },
    (route) => {
      route('/:alias', {
        GET: async (request, reply) => {
          const returned = await returnFromExternal(services, request);
          if ('location' in returned) return redirect(reply, returned.location);
          const { login, answer } = returned;
          return wantsJson(request) ? sendJson(reply, answer) : redirect(reply, pageOf(login));
        },
        POST: async (request, reply) => redirect(reply, (await keepFormAnswer(services, request)).location),
      });
      route('/:alias/logout', {
        // Back-Channel Logout 2.8: 200 without a body.
        POST: async (request, reply) => {
          await takeExternalLogout(services, request);
          return reply.header('cache-control', 'no-store').send();
        },
      });
      route('/:alias/metadata', { GET: (request, reply) => answerSpMetadata(services, request, reply) });
    },
  );
}

/** Our metadata for a SAML provider, also for one that is not enabled yet: the other side reads it before anybody can sign in. Answers are encrypted for the key that signs next: it is ours for longest. */
async function answerSpMetadata(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const provider = await anyProviderOf(services, request);
  if (provider.kind !== 'saml') throw reject('login.not_found', 'not_a_saml_provider');
  const { current, next } = await samlKeysOf(services, request.tenant);
  const { callbackUri } = upstreamOf(services, request.tenant, provider);
  const xml = writeSpMetadata({
    callbackUri,
    // Of several, some providers keep the first and Keycloak keeps the last: both are what signs now.
    signing: [current.certificate, next.certificate, current.certificate],
    encryption: next.certificate,
    signsRequests: metadataOf(provider).wantsSignedRequests,
  });
  return reply
    .headers({
      'content-type': 'application/samlmetadata+xml; charset=utf-8',
      'cache-control': 'public, max-age=300',
      'x-content-type-options': 'nosniff',
    })
    .send(xml);
}
