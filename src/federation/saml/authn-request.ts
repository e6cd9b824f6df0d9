// What we ask a SAML identity provider (SAML core 3.4.1), by HTTP-Redirect (bindings 3.4): signed where its metadata wants that.
// Called by saml-provider.ts.
import { type KeyObject, sign } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { rsaSha256 } from '../../crypto/xml/algorithms.ts';
import { element, writeCanonical } from '../../crypto/xml/writer.ts';
import { samlBindings } from '../../domain/saml/saml-names.ts';
import type { UpstreamMetadata } from './idp-metadata.ts';

interface AskedOfIdp {
  readonly id: string;
  readonly issuer: string;
  readonly acsUrl: string;
  readonly nowMs: number;
  /** True: whoever it is signs in there again. */
  readonly forceAuthn: boolean;
}

/** The AuthnRequest as XML. */
export function writeAuthnRequest(idp: UpstreamMetadata, { id, issuer, acsUrl, nowMs, forceAuthn }: AskedOfIdp): string {
  const root = element(
    'samlp:AuthnRequest',
    {
      AssertionConsumerServiceURL: acsUrl,
      Destination: idp.ssoUrl,
      ForceAuthn: forceAuthn ? 'true' : undefined,
      ID: id,
      IssueInstant: new Date(nowMs).toISOString(),
      ProtocolBinding: samlBindings.post,
      Version: '2.0',
    },
    element('saml:Issuer', {}, issuer),
    element('samlp:NameIDPolicy', { AllowCreate: 'true', Format: idp.nameIdFormat }),
  );
  return writeCanonical(root).canonical;
}

/** The address to send the browser to. */
export async function redirectToIdp(ssoUrl: string, xml: string, relayState: string, signer: KeyObject | undefined): Promise<string> {
  const message = encodeURIComponent(deflateRawSync(Buffer.from(xml)).toString('base64'));
  const query = `SAMLRequest=${message}&RelayState=${encodeURIComponent(relayState)}`;
  const base = `${ssoUrl}${ssoUrl.includes('?') ? '&' : '?'}`;
  if (signer === undefined) return base + query;
  const signed = `${query}&SigAlg=${encodeURIComponent(rsaSha256)}`;
  return `${base}${signed}&Signature=${encodeURIComponent((await signAsync(Buffer.from(signed), signer)).toString('base64'))}`;
}

const signAsync = (data: Buffer, key: KeyObject): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    sign('sha256', data, key, (error, signature) => (error === null ? resolve(signature) : reject(error)));
  });
