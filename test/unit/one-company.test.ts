// Which providers' people are one company's: where everybody may have an account, an address says who had it once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOfOneCompany, type ProviderKind } from '../../src/domain/sign-in/identity-provider.ts';

test('a provider at which everybody may have an account is no company’s', () => {
  for (const [kind, issuer, expected] of [
    ['oidc', 'https://login.acme.example', true],
    ['oidc', 'https://login.microsoftonline.com/0199a2b4-5c6d-7e8f-9a0b-1c2d3e4f5a6b/v2.0', true],
    ['oidc', 'https://accounts.google.com', false],
    ['oidc', 'https://login.microsoftonline.com/{tenantid}/v2.0', false],
    ['github', undefined, false],
    ['github', 'https://github.acme.example', false],
  ] as const satisfies readonly (readonly [ProviderKind, string | undefined, boolean])[])
    assert.equal(isOfOneCompany({ kind, issuer }), expected, `${kind} ${issuer}`);
});
