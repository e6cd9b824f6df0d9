// Registrations and settings of clients with certificates (RFC 8705): what fits together, and what is refused in which words.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { type ClientChange, registrationOf } from '../../src/domain/client/client.ts';
import type { ClientId } from '../../src/domain/ids.ts';
import { makeIdentity } from '../support/certificates.ts';

const id = 'client-1' as ClientId;
const register = (change: ClientChange) => registrationOf({ name: 'Test', ...change }, undefined, id);
const faultOf = (change: ClientChange): string => {
  const read = register(change);
  return read.ok ? 'none' : `${read.fault.field} ${read.fault.text}`;
};

describe('registration of clients with certificates', async () => {
  const { jwk } = await makeIdentity({ subject: 'CN=x' });
  const { x5c: _certificate, ...bare } = jwk;
  const byCa = { token_endpoint_auth_method: 'tls_client_auth' } as const;
  const bySelf = { token_endpoint_auth_method: 'self_signed_tls_client_auth' } as const;
  const subject = 'CN=payments,O=Example,C=SE';

  it('takes one name, or a certificate of its own', () => {
    assert.ok(register({ ...byCa, tls_client_auth_subject_dn: subject }).ok);
    assert.ok(register({ ...byCa, tls_client_auth_san_uri: 'https://payments.example' }).ok);
    assert.ok(register({ ...bySelf, jwks: { keys: [jwk] } }).ok);
    assert.ok(register({ ...bySelf, jwks_uri: 'https://payments.example/jwks' }).ok);
    assert.ok(register({ tls_client_certificate_bound_access_tokens: true }).ok);
  });
  it('refuses what cannot be known by its certificate', () => {
    const one = 'tls_client_auth_subject_dn or one tls_client_auth_san_* field is required for tls_client_auth, and no second one';
    assert.equal(faultOf(byCa), one);
    assert.equal(faultOf({ ...byCa, tls_client_auth_subject_dn: subject, tls_client_auth_san_dns: 'payments.example' }), one);
    const others = 'tls_client_auth_subject_dn and tls_client_auth_san_* are for tls_client_auth only';
    assert.equal(faultOf({ tls_client_auth_subject_dn: subject }), others);
    assert.equal(
      faultOf({ ...byCa, tls_client_auth_subject_dn: 'payments' }),
      'tls_client_auth_subject_dn must be a distinguished name such as CN=payments,O=Example,C=SE',
    );
    const keys = 'jwks with a certificate in x5c, or jwks_uri, is required for self_signed_tls_client_auth';
    assert.equal(faultOf(bySelf), keys);
    assert.equal(faultOf({ ...bySelf, jwks: { keys: [bare] } }), keys);
    assert.equal(faultOf({ ...byCa, tls_client_auth_subject_dn: subject, type: 'public' }).split(' ')[0], 'token_endpoint_auth_method');
  });
  it('bound tokens cannot be pushed, and take the place of DPoP in the profile fapi2', () => {
    const push = {
      grant_types: ['urn:openid:params:grant-type:ciba'],
      backchannel_token_delivery_mode: 'push',
      backchannel_client_notification_endpoint: 'https://rp.example/ciba',
    } as const;
    assert.match(faultOf({ ...push, tls_client_certificate_bound_access_tokens: true }), /may not be push/);
    const profiled = register({
      profile: 'fapi2',
      ...byCa,
      tls_client_auth_subject_dn: subject,
      tls_client_certificate_bound_access_tokens: true,
      redirect_uris: ['https://rp.example/cb'],
    });
    assert.ok(profiled.ok && !profiled.registration.dpopBoundAccessTokens);
    assert.match(
      faultOf({ profile: 'fapi2', ...byCa, tls_client_auth_subject_dn: subject, dpop_bound_access_tokens: false }),
      /must be true/,
    );
  });
});

describe('settings of client certificates', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-mtls-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const fileOf = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  let own: Awaited<ReturnType<typeof makeIdentity>>;
  let keyFile = '';
  let certificateFile = '';
  before(async () => {
    own = await makeIdentity({ subject: 'CN=x' });
    [keyFile, certificateFile] = [fileOf('key.pem', own.key), fileOf('certificate.pem', own.cert)];
  });
  const read = (flags: Parameters<typeof readConfig>[0]) => readConfig(flags, {}, folder);

  it('are read whole', () => {
    const config = read({
      mtls_listen: '0.0.0.0:8443',
      mtls_tls: `${keyFile},${certificateFile},${certificateFile}`,
      mtls_url: 'https://mtls.id.example.com',
      mtls_header: 'rfc9440',
      trusted_proxies: '10.0.0.5/32',
    });
    assert.deepEqual(config.mtlsListen, { host: '0.0.0.0', port: 8443 });
    assert.deepEqual(config.mtlsTls, { key: own.key, certificate: own.cert, authorities: own.cert });
    assert.deepEqual([config.mtlsUrl, config.mtlsHeader], ['https://mtls.id.example.com', 'rfc9440']);
    assert.equal(read({ mtls_listen: '0.0.0.0:8443', mtls_tls: `${keyFile},${certificateFile}` }).mtlsTls?.authorities, undefined);
    const { mtlsListen, mtlsTls, mtlsUrl, mtlsHeader } = read({});
    assert.deepEqual([mtlsListen, mtlsTls, mtlsUrl, mtlsHeader], [undefined, undefined, undefined, undefined]);
  });
  it('files that are no key and certificate of one another are refused', async () => {
    const other = await makeIdentity({ subject: 'CN=y' });
    const text = fileOf('text.pem', 'PEM');
    for (const [key, certificate] of [
      [text, text],
      [keyFile, fileOf('other.pem', other.cert)],
    ] as const)
      assert.throws(
        () => read({ mtls_listen: '0.0.0.0:8443', mtls_tls: `${key},${certificate}` }),
        /mtls_tls: expected PEM files of a private key and its certificate, found/,
      );
  });
  it('are refused by halves, and in words that say what to type', () => {
    const wrong: readonly (readonly [Parameters<typeof readConfig>[0], RegExp])[] = [
      [{ mtls_listen: '0.0.0.0:8443' }, /expected mtls_listen and mtls_tls together/],
      [{ mtls_tls: `${keyFile},${certificateFile}` }, /expected mtls_listen and mtls_tls together/],
      [{ mtls_listen: '0.0.0.0:8443', mtls_tls: keyFile }, /mtls_tls: expected two or three files/],
      [{ mtls_listen: '0.0.0.0:8443', mtls_tls: `${keyFile},${folder}/none.pem` }, /mtls_tls: expected a readable file, found none at/],
      [{ mtls_header: 'nginx' }, /mtls_header: expected the proxies whose header is believed in trusted_proxies/],
      [{ mtls_header: 'apache', trusted_proxies: '10.0.0.5/32' }, /mtls_header: expected one of rfc9440, nginx/],
      [{ mtls_url: 'http://mtls.id.example.com' }, /mtls_url: expected https/],
      [{ mtls_url: 'https://mtls.id.example.com/x' }, /mtls_url: expected https/],
    ];
    for (const [flags, words] of wrong) assert.throws(() => read(flags), words);
  });
});
