// Codes, refresh families and grants at the level of their SQL, on both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { hashSecret } from '../../src/crypto/secret-hash.ts';
import type { GrantId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { uuidV7 } from '../../src/platform/random.ts';
import { findAuthorizationCode, insertAuthorizationCode, redeemAuthorizationCode } from '../../src/storage/oidc/authorization-codes.ts';
import { insertDpopProof } from '../../src/storage/oidc/dpop-proofs.ts';
import { findGrant, type Grant, insertGrant, revokeGrant, revokeGrantsOfUser } from '../../src/storage/oidc/grants.ts';
import { consumePushedRequest, findPushedRequest, insertPushedRequest } from '../../src/storage/oidc/pushed-requests.ts';
import { findRefreshToken, insertFirstRefreshToken, type Rotation, rotateRefreshToken } from '../../src/storage/oidc/refresh-tokens.ts';
import { findTokenState, insertRevokedToken } from '../../src/storage/oidc/revoked-tokens.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`grants on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      tenant = await rootTenant(services);
      client = await createClient(services, tenant);
    });
    after(() => server.close());

    const newGrant = (): Grant => ({
      id: uuidV7(services.clock.nowMs()) as GrantId,
      clientId: client.clientId,
      userId: user.id,
      scope: 'openid offline_access',
      resource: undefined,
      authTimeSeconds: 1_700_000_000,
      acr: 'pin',
      amr: ['otp'],
      nonce: 'n',
      maxAgeSeconds: 60,
      dpopJkt: undefined,
      externalIdentityId: undefined,
      organizationId: undefined,
      certificateThumbprint: undefined,
      claims: undefined,
      ssoSessionId: undefined,
      authorizedAtSeconds: undefined,
    });
    const withCode = async (code: string): Promise<Grant> => {
      user = await createUser(services, tenant);
      const grant = newGrant();
      await services.database.write(tenant.id, (queries) =>
        insertAuthorizationCode(queries, tenant.id, {
          codeHash: hashSecret(code),
          redirectUri: 'https://rp.example/callback',
          codeChallenge: undefined,
          dpopJkt: undefined,
          grant,
          lifetimeSeconds: 60,
        }),
      );
      return grant;
    };
    const redeem = (code: string, grant: Grant): ReturnType<typeof redeemAuthorizationCode> =>
      services.database.write(tenant.id, (queries) => redeemAuthorizationCode(queries, tenant.id, hashSecret(code), grant, 3600));

    it('a code becomes its grant once; the second use ends the grant', async () => {
      const grant = await withCode('code-1');
      const stored = await services.database.read(tenant.id, (queries) => findAuthorizationCode(queries, tenant.id, hashSecret('code-1')));
      assert.deepEqual(stored?.grant, { ...grant, hookClaims: undefined });
      assert.equal(stored?.userState, 'active');
      assert.deepEqual(await redeem('code-1', grant), { ok: true });
      assert.deepEqual(await redeem('code-1', grant), { ok: false, reason: 'used' });
      const row = await services.database.read(tenant.id, (queries) => findGrant(queries, tenant.id, grant.id));
      assert.equal(row?.revoked_reason, 'code_reuse');
    });

    it('a code is worth nothing after its lifetime', async () => {
      const grant = await withCode('code-2');
      await server.clock.advance(60_000);
      assert.deepEqual(await redeem('code-2', grant), { ok: false, reason: 'expired' });
      assert.equal(await services.database.read(tenant.id, (queries) => findGrant(queries, tenant.id, grant.id)), undefined);
    });

    it('a code of another client does not move', async () => {
      const grant = await withCode('code-3');
      const other = await createClient(services, tenant);
      assert.deepEqual(await redeem('code-3', { ...grant, clientId: other.clientId }), { ok: false, reason: 'expired' });
      assert.deepEqual(await redeem('code-3', grant), { ok: true });
    });

    const withFamily = async (token: string): Promise<Grant> => {
      user = await createUser(services, tenant);
      const grant = newGrant();
      await services.database.write(tenant.id, async (queries) => {
        await insertGrant(queries, tenant.id, grant, 3600);
        await insertFirstRefreshToken(queries, tenant.id, { tokenHash: hashSecret(token), grantId: grant.id, lifetimeSeconds: 600 });
      });
      return grant;
    };
    const rotate = (from: string, to: string, grant: Grant, changes: Partial<Rotation> = {}): ReturnType<typeof rotateRefreshToken> =>
      services.database.write(tenant.id, (queries) =>
        rotateRefreshToken(queries, tenant.id, {
          tokenHash: hashSecret(from),
          clientId: client.clientId,
          grantId: grant.id,
          successorHash: hashSecret(to),
          successorEncrypted: undefined,
          lifetimeSeconds: 600,
          leewaySeconds: 0,
          ...changes,
        }),
      );

    it('a refresh token rotates once; its reuse ends the family', async () => {
      const grant = await withFamily('a0');
      assert.deepEqual(await rotate('a0', 'a1', grant), { ok: true, replayedSuccessor: undefined });
      assert.deepEqual(await rotate('a1', 'a2', grant), { ok: true, replayedSuccessor: undefined });
      assert.deepEqual(await rotate('a0', 'a9', grant), { ok: false, reason: 'reused' });
      assert.deepEqual(await rotate('a2', 'a3', grant), { ok: false, reason: 'expired_or_revoked' });
      const stored = await services.database.read(tenant.id, (queries) => findRefreshToken(queries, tenant.id, hashSecret('a2')));
      assert.equal(stored?.isGrantRevoked, true);
    });

    it('within the leeway a second use gives the same successor until that one is used', async () => {
      const grant = await withFamily('b0');
      const leeway = { successorEncrypted: 'sealed-b1', leewaySeconds: 10 };
      assert.deepEqual(await rotate('b0', 'b1', grant, leeway), { ok: true, replayedSuccessor: undefined });
      assert.deepEqual(await rotate('b0', 'b9', grant, leeway), { ok: true, replayedSuccessor: 'sealed-b1' });
      assert.deepEqual(await rotate('b1', 'b2', grant, leeway), { ok: true, replayedSuccessor: undefined });
      assert.deepEqual(await rotate('b0', 'b9', grant, leeway), { ok: false, reason: 'reused' });
    });

    it('after the leeway a second use is reuse', async () => {
      const grant = await withFamily('c0');
      const leeway = { successorEncrypted: 'sealed-c1', leewaySeconds: 10 };
      await rotate('c0', 'c1', grant, leeway);
      await server.clock.advance(10_000);
      assert.deepEqual(await rotate('c0', 'c9', grant, leeway), { ok: false, reason: 'reused' });
    });

    it('an expired refresh token, and one of another client, do not rotate', async () => {
      const grant = await withFamily('d0');
      const other = await createClient(services, tenant);
      assert.deepEqual(await rotate('d0', 'd1', grant, { clientId: other.clientId }), { ok: false, reason: 'expired_or_revoked' });
      await server.clock.advance(600_000);
      assert.deepEqual(await rotate('d0', 'd1', grant), { ok: false, reason: 'expired_or_revoked' });
    });

    const stateOf = (jti: string, sid: string | undefined, sub: string): ReturnType<typeof findTokenState> =>
      services.database.read(tenant.id, (queries) => findTokenState(queries, tenant.id, { jti, sid, sub }));

    it('a token is revoked by its jti, by its grant, and when its grant is not there', async () => {
      const grant = await withFamily('e0');
      assert.deepEqual(await stateOf('jti-1', grant.id, user.id), {
        isRevoked: false,
        userState: 'active',
        userRole: 'user',
        clientId: grant.clientId,
        claims: undefined,
        amr: ['otp'],
        externalIdentityId: undefined,
        organizationId: undefined,
      });
      assert.deepEqual(await stateOf('jti-1', undefined, 'client'), {
        isRevoked: false,
        userState: undefined,
        userRole: undefined,
        clientId: undefined,
        claims: undefined,
        amr: [],
        externalIdentityId: undefined,
        organizationId: undefined,
      });
      const denied = await services.database.write(tenant.id, async (queries) => [
        await insertRevokedToken(queries, tenant.id, 'jti-1', 2_000_000_000),
        await insertRevokedToken(queries, tenant.id, 'jti-1', 2_000_000_000),
      ]);
      assert.deepEqual(denied, [true, false]);
      assert.equal((await stateOf('jti-1', grant.id, user.id)).isRevoked, true);
      assert.equal((await stateOf('jti-1', undefined, 'client')).isRevoked, true);
      assert.equal((await stateOf('jti-2', grant.id, user.id)).isRevoked, false);
      await services.database.write(tenant.id, (queries) => revokeGrant(queries, tenant.id, grant.id, 'logout'));
      assert.equal((await stateOf('jti-2', grant.id, user.id)).isRevoked, true);
      assert.deepEqual(await stateOf('jti-2', 'no-such-grant', user.id), {
        isRevoked: true,
        userState: undefined,
        userRole: undefined,
        clientId: undefined,
        claims: undefined,
        amr: [],
        externalIdentityId: undefined,
        organizationId: undefined,
      });
    });

    it('ending the sessions of a user ends grants and drops waiting codes', async () => {
      const grant = await withFamily('f0');
      const ended = await services.database.write(tenant.id, (queries) => revokeGrantsOfUser(queries, tenant.id, user.id, 'administrator'));
      assert.equal(ended, 1);
      assert.deepEqual(await rotate('f0', 'f1', grant), { ok: false, reason: 'expired_or_revoked' });
      const waiting = await withCode('code-4');
      await services.database.write(tenant.id, (queries) => revokeGrantsOfUser(queries, tenant.id, user.id, 'administrator'));
      assert.deepEqual(await redeem('code-4', waiting), { ok: false, reason: 'expired' });
    });

    it('a pushed request is consumed once and by its client only', async () => {
      const other = await createClient(services, tenant);
      await services.database.write(tenant.id, (queries) =>
        insertPushedRequest(queries, tenant.id, { referenceHash: 'r1', clientId: client.clientId, parameters: '{}', lifetimeSeconds: 60 }),
      );
      const find = (id: typeof client.clientId): Promise<string | undefined> =>
        services.database.read(tenant.id, (queries) => findPushedRequest(queries, tenant.id, id, 'r1'));
      const consume = (id: typeof client.clientId): Promise<boolean> =>
        services.database.write(tenant.id, (queries) =>
          consumePushedRequest(queries, tenant.id, { clientId: id, referenceHash: 'r1', transactionId: undefined }),
        );
      assert.equal(await find(other.clientId), undefined);
      assert.equal(await consume(other.clientId), false);
      assert.equal(await find(client.clientId), '{}');
      assert.deepEqual([await consume(client.clientId), await consume(client.clientId)], [true, false]);
      assert.equal(await find(client.clientId), undefined);
    });

    it('a DPoP proof is remembered', async () => {
      const insert = (): Promise<boolean> =>
        services.database.write(tenant.id, (queries) => insertDpopProof(queries, tenant.id, 'p1', 300));
      assert.deepEqual([await insert(), await insert()], [true, false]);
    });
  });
}
