// crypto/signing-pool: signatures of lone requests, of batches shared with the other thread, and of RSA keys all verify.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseJwt, signJwt, verifyJwt } from '../../src/crypto/signing/jwt.ts';
import { signingAlgorithms, thumbprint } from '../../src/crypto/signing/signing.ts';
import type { SigningAlg } from '../../src/domain/client/client.ts';

async function makeKey(alg: SigningAlg) {
  const { privateKey, publicKey } = await signingAlgorithms[alg].generate();
  const kid = thumbprint(publicKey);
  return { signing: { kid, alg, privateKey }, verification: { kid, alg, publicKey } };
}

describe('signing pool', () => {
  for (const alg of ['ES256', 'EdDSA', 'RS256'] as const) {
    it(`${alg}: one signature, then a batch of 300, each for its own claims`, async () => {
      const key = await makeKey(alg);
      for (const count of [1, 300]) {
        const tokens = await Promise.all(Array.from({ length: count }, (_item, index) => signJwt(key.signing, 'JWT', { index })));
        tokens.forEach((token, index) => {
          const jwt = parseJwt(token);
          assert.ok(jwt !== undefined && verifyJwt(jwt, key.verification, 'JWT'));
          assert.deepEqual(jwt.claims, { index });
        });
      }
    });
  }

  it('two keys in one batch are not mixed up', async () => {
    const [first, second] = [await makeKey('ES256'), await makeKey('ES256')];
    const tokens = await Promise.all(
      Array.from({ length: 64 }, (_item, index) => signJwt((index % 2 === 0 ? first : second).signing, 'JWT', { index })),
    );
    tokens.forEach((token, index) => {
      const jwt = parseJwt(token)!;
      assert.equal(verifyJwt(jwt, (index % 2 === 0 ? first : second).verification, 'JWT'), true);
      assert.equal(verifyJwt(jwt, (index % 2 === 0 ? second : first).verification, 'JWT'), false);
    });
  });

  it('a key that cannot sign fails its own request, alone and in a batch', async () => {
    const good = await makeKey('ES256');
    const broken = { ...good.signing, kid: 'broken', privateKey: good.verification.publicKey };
    await assert.rejects(signJwt(broken, 'JWT', {}));
    const results = await Promise.allSettled(
      Array.from({ length: 64 }, (_item, index) => signJwt(index === 7 ? broken : good.signing, 'JWT', {})),
    );
    assert.deepEqual(results.map((result) => result.status).filter((status) => status === 'rejected').length, 1);
    assert.equal(results[7]!.status, 'rejected');
  });
});
