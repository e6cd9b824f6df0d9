// An identity assertion and a sign-in of the same person in a browser, at once: both link, and both are let in.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IdentityProviderId } from '../../src/domain/ids.ts';
import { insertProvenDomain } from '../../src/storage/registry/proven-domains.ts';
import { openCrossApp } from '../support/cross-app.ts';
import { databases, overtaken } from '../support/databases.ts';
import { insertLink } from '../support/external.ts';
import { createUser } from '../support/fixtures.ts';
import { decodeJwt, tokensOf } from '../support/oidc.ts';

if (databases.includes('postgres'))
  describe('an assertion of somebody whom a browser links meanwhile', () => {
    it('gives a token by the link that the browser made', async () => {
      const world = await openCrossApp('postgres');
      try {
        const { server, services, tenant, provider, employer, sign, post } = world;
        await services.cache.write(tenant.id, (queries) =>
          insertProvenDomain(queries, tenant.id, 'corp.example', { kind: 'identity_provider', id: provider.id }),
        );
        const user = await createUser(services, tenant, 'plain@corp.example');
        const claims = { sub: 'plain', email: user.email, email_verified: true, hd: 'corp.example' };
        const assertion = await sign(claims);
        const key = { providerId: provider.id as IdentityProviderId, issuer: employer.url, subject: claims.sub };
        const answer = await overtaken(
          server.database,
          (session) => insertLink(session, tenant, key, user.id),
          () => post(assertion),
        );
        assert.equal(decodeJwt((await tokensOf(answer)).access_token).claims['sub'], user.id);
      } finally {
        await world.close();
      }
    });
  });
