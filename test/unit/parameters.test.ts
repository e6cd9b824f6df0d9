// Parameters of OAuth requests: what is read, what is refused, and the limits at n and n+1.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parameterCharsMax, parametersMax } from '../../src/contract/limits.ts';
import { type ParsedParameters, parseParameters, type RequestParameters } from '../../src/oidc/parameters.ts';
import { anyCharacter } from '../support/any-character.ts';

function parsed(text: string): RequestParameters {
  const outcome = parseParameters(text);
  assert.ok(outcome.ok, JSON.stringify(outcome));
  return outcome.parameters;
}
const failure = (text: string): string => {
  const outcome: ParsedParameters = parseParameters(text);
  assert.ok(!outcome.ok);
  return `${outcome.reason} ${outcome.parameter ?? '-'}`;
};

describe('OAuth parameters', () => {
  it('values are form-decoded: plus is a space, percent-encoding is UTF-8', () => {
    const parameters = parsed('scope=openid+email&binding_message=%E2%9C%93%20ok%2B1&%73tate=x%3D%26y');
    assert.equal(parameters.get('scope'), 'openid email');
    assert.equal(parameters.get('binding_message'), '✓ ok+1');
    assert.equal(parameters.get('state'), 'x=&y');
    assert.deepEqual(parameters.names(), ['scope', 'binding_message', 'state']);
  });

  it('an empty value counts as omitted, but was sent', () => {
    for (const text of ['client_secret=', 'client_secret', 'a=b&client_secret=&']) {
      const parameters = parsed(text);
      assert.equal(parameters.get('client_secret'), undefined);
      assert.deepEqual(parameters.getAll('client_secret'), []);
      assert.ok(parameters.has('client_secret'));
      assert.ok(!parameters.has('client_id'));
    }
    assert.deepEqual(parsed('').names(), []);
    assert.deepEqual(parsed('&&').names(), []);
  });

  it('a value may hold "="; names are case-sensitive and no prototype member', () => {
    const parameters = parsed('code=a=b=&Code=c&__proto__=x');
    assert.equal(parameters.get('code'), 'a=b=');
    assert.equal(parameters.get('Code'), 'c');
    assert.equal(parameters.get('__proto__'), 'x');
    assert.equal(parameters.get('constructor'), undefined);
  });

  it('a repeated parameter is refused, empty ones and differently encoded names included', () => {
    assert.equal(failure('scope=a&scope=a'), 'repeated_parameter scope');
    assert.equal(failure('scope=&scope='), 'repeated_parameter scope');
    assert.equal(failure('scope=a&%73cope=b'), 'repeated_parameter scope');
  });

  it('resource and audience may repeat (RFC 8707 2)', () => {
    const parameters = parsed('resource=https%3A%2F%2Fa&audience=x&resource=&resource=https%3A%2F%2Fb');
    assert.deepEqual(parameters.getAll('resource'), ['https://a', 'https://b']);
    assert.deepEqual(parameters.getAll('audience'), ['x']);
    assert.equal(parameters.get('resource'), 'https://a');
  });

  it('bad percent-encoding, bytes that are not UTF-8 and U+0000 are refused', () => {
    for (const value of ['%', '%4', '%zz', '%u0041', '%ff', '%c0%80', '%ed%a0%80', '%00', 'a%00b'])
      assert.equal(failure(`state=${value}`), 'malformed_encoding state', value);
    assert.equal(failure('%zz=1'), 'malformed_encoding -');
    assert.equal(failure('state=\u0000'), 'malformed_encoding state');
  });

  it('limits: number of parameters and length of names and values, at n and n+1', () => {
    const many = (count: number): string => Array.from({ length: count }, (_, index) => `p${index}=1`).join('&');
    assert.equal(parsed(many(parametersMax)).names().length, parametersMax);
    assert.equal(failure(many(parametersMax + 1)), 'too_many_parameters -');
    assert.equal(parsed(`state=${'a'.repeat(parameterCharsMax)}`).get('state')?.length, parameterCharsMax);
    assert.equal(failure(`state=${'a'.repeat(parameterCharsMax + 1)}`), 'parameter_too_long state');
    assert.ok(parsed(`${'a'.repeat(parameterCharsMax)}=1`).has('a'.repeat(parameterCharsMax)));
    assert.equal(failure(`${'a'.repeat(parameterCharsMax + 1)}=1`), 'parameter_too_long -');
  });

  it('agrees with URLSearchParams on everything that encoder writes', () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 30 }).filter((value) => !value.includes('\u0000') && value.isWellFormed());
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(text, text), { maxLength: 20, selector: ([name]) => name }), (pairs) => {
        const parameters = parsed(new URLSearchParams(pairs).toString());
        for (const [name, value] of pairs) assert.equal(parameters.get(name) ?? '', value);
      }),
    );
  });
});
