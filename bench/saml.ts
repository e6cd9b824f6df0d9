// P6: SAML post-backs over HTTP, answers signed twice and encrypted, against two RSA-2048 signatures, by processor time; and what a
// signed request costs to verify and a hostile one to refuse.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { samlXmlLimits } from '../src/contract/limits.ts';
import { makeSelfSignedCertificate } from '../src/crypto/certificate.ts';
import { readXml } from '../src/crypto/xml/reader.ts';
import { verifyEnvelopedSignature } from '../src/crypto/xml/signature.ts';
import { signEnveloped } from '../src/crypto/xml/signing.ts';
import { element } from '../src/crypto/xml/writer.ts';
import { hostileXml } from '../test/support/hostile-xml.ts';
import { buildAuthnRequest, buildRedirectQuery } from '../test/support/saml-requests.ts';
import { type GatehouseProcess, startGatehouse } from './process.ts';
import { createParty, createUser, signIn } from './sign-in.ts';
import { atMost, type Bench, type Figure, interleave, ownCpuMs, ratio } from './table.ts';
import { call, createTenant, managementToken } from './tenant.ts';

const rounds = 5;
const postbacks = 400;
const inFlight = 16;
const issuer = 'https://sp.example/metadata';

export const saml: Bench = async () => {
  const gatehouse = await startGatehouse();
  try {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const browser = await openPassiveBrowser(gatehouse, publicKey);
    const signed = Buffer.alloc(600, 0x61);
    const contenders = {
      ours: () => postbackCost(gatehouse, browser),
      raw: async () => ({ cpuMs: await ownCpuMs(1000, () => sign('sha256', signed, privateKey)), rate: 0 }),
    };
    await interleave(1, contenders);
    const { ours, raw } = await interleave(rounds, contenders);
    const more = { ours_ms: ours.cpuMs, signature_ms: raw.cpuMs, rate: ours.rate };
    const verifyOnce = await makeVerification(privateKey, publicKey);
    for (let warm = 0; warm < 500; warm += 1) verifyOnce();
    return [
      ratio('P6', 'two RSA-2048 signatures over a post-back, signed twice and encrypted', (2 * raw.cpuMs) / ours.cpuMs, 0.5, more),
      atMost('P6', 'CPU of verifying a signed POST request', await ownCpuMs(2000, verifyOnce), 'ms', 1),
      await hostileCost(),
      memoryGrowth(verifyOnce),
    ];
  } finally {
    await gatehouse.stop();
  }
};

interface PassiveBrowser {
  readonly ssoUrl: string;
  readonly cookie: string;
}

/** A browser with a single sign-on session, and a service provider that takes signed and encrypted answers. */
async function openPassiveBrowser(gatehouse: GatehouseProcess, key: KeyObject): Promise<PassiveBrowser> {
  const tenant = await createTenant(gatehouse, 'saml');
  const token = await managementToken(tenant);
  await call(`${tenant.managementApi}/settings`, token, 'PATCH', { sso_session: 'browser' });
  await call(`${tenant.managementApi}/service-providers`, token, 'POST', {
    entity_id: issuer,
    acs: [{ url: 'https://sp.example/acs' }],
    encryption_key: key.export({ type: 'spki', format: 'pem' }),
    encrypt_assertions: true,
    attribute_map: { emails: 'mail', user_name: 'uid', groups: 'memberOf' },
  });
  const party = await createParty(tenant);
  await createUser(tenant, 'zoe@bench.example');
  const { cookies } = await signIn(gatehouse, party, 'zoe@bench.example');
  return { ssoUrl: `${tenant.baseUrl}/v1/idp/saml/sso`, cookie: cookies };
}

/** Post-backs made ready by passive requests, then delivered: what one delivery costs the server. */
async function postbackCost(
  gatehouse: GatehouseProcess,
  browser: PassiveBrowser,
): Promise<{ readonly cpuMs: number; readonly rate: number }> {
  const ready: (readonly [url: string, cookie: string])[] = [];
  for (let index = 0; index < postbacks; index += 1) ready.push(await passiveRequest(browser));
  const [before, startedAt] = [gatehouse.cpuMs(), performance.now()];
  const deliver = async (): Promise<void> => {
    for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
      const answer = await fetch(next[0], { headers: { cookie: next[1] } });
      if (!(await answer.text()).includes('SAMLResponse')) throw new Error(`the post-back answered ${answer.status}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, deliver));
  return { cpuMs: (gatehouse.cpuMs() - before) / postbacks, rate: (postbacks * 1000) / (performance.now() - startedAt) };
}

async function passiveRequest({ ssoUrl, cookie }: PassiveBrowser): Promise<readonly [url: string, cookie: string]> {
  const id = `_${randomBytes(16).toString('hex')}`;
  const issueInstant = new Date().toISOString();
  const query = buildRedirectQuery(buildAuthnRequest({ id, issuer, destination: ssoUrl, issueInstant, attributes: ' IsPassive="true"' }));
  const started = await fetch(`${ssoUrl}?${query}`, { redirect: 'manual', headers: { cookie, accept: 'text/html' } });
  const jar = [cookie, ...started.headers.getSetCookie().map((line) => line.split(';', 1)[0]!)].join('; ');
  const login = new URL(started.headers.get('location') ?? '', ssoUrl);
  const answered = await fetch(login, { redirect: 'manual', headers: { cookie: jar, accept: 'text/html' } });
  return [new URL(answered.headers.get('location') ?? '', ssoUrl).href, jar];
}

/** The slowest of the documents made to cost. Many readings are timed together: the system may count a thread's time in ticks of 4 ms. */
async function hostileCost(): Promise<Figure> {
  let slowest = 0;
  for (const [, xml] of hostileXml) {
    const bytes = Buffer.from(xml);
    slowest = Math.max(slowest, await ownCpuMs(50, () => readXml(bytes, { limits: samlXmlLimits, comments: 'refused' })));
  }
  return atMost('P6', 'CPU of the slowest refusal of hostile XML at 64 KiB', slowest, 'ms', 50);
}

function memoryGrowth(verifyOnce: () => void): Figure {
  const before = process.memoryUsage().rss;
  for (let run = 0; run < 5000; run += 1) {
    verifyOnce();
    readXml(Buffer.from(hostileXml[run % hostileXml.length]?.[1] ?? ''), { limits: samlXmlLimits, comments: 'refused' });
  }
  return atMost(
    'P6',
    'memory grown over 5,000 signed and 5,000 hostile requests',
    (process.memoryUsage().rss - before) / 2 ** 20,
    'MiB',
    64,
  );
}

async function makeVerification(privateKey: KeyObject, publicKey: KeyObject): Promise<() => void> {
  const validity = { notBefore: new Date(), notAfter: new Date(Date.now() + 86_400_000) };
  const certificate = await makeSelfSignedCertificate({
    privateKey,
    publicKey,
    commonName: 'bench',
    serialNumber: randomBytes(16),
    ...validity,
  });
  const request = element('samlp:AuthnRequest', { ID: '_1', Version: '2.0' }, element('saml:Issuer', {}, issuer));
  const bytes = Buffer.from((await signEnveloped(request, '_1', { privateKey, certificate })).canonical);
  return () => {
    const reading = readXml(bytes, { limits: samlXmlLimits, comments: 'refused' });
    if (!reading.ok || !verifyEnvelopedSignature(reading.root, [publicKey]).ok) throw new Error('the request of the bench does not verify');
  };
}
