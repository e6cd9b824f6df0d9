// What `gatehouse doctor` does when it is asked to: has the mail server take a mail, and signs somebody in at the running server as their
// browser, phone and application would. The sign-in is in a tenant that is made for it and goes with it, so that no tenant that is there,
// and nothing that listens to one, notices. Each says in words how far it came.

import { createClient } from '../../administration/clients/clients.ts';
import type { Finding } from '../../administration/deployment-checks.ts';
import { createEnrollment } from '../../administration/people/enrollments.ts';
import { createUser } from '../../administration/people/users.ts';
import { removeTenant } from '../../administration/tenants.ts';
import type { Config } from '../../config.ts';
import { phoneMethod } from '../../domain/sign-in/login-methods.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { openTestPhone, signInByPhone } from '../../embedding/phone-sign-in.ts';
import { createMail, smtpTimeoutMs } from '../../platform/mail/mail.ts';
import { randomLetters, uuidV7 } from '../../platform/random.ts';
import { createTenant } from '../../tokens/tenant-creation.ts';
import { type Administrator, by } from '../registry/administrator.ts';

/** Has the mail server of the deployment take a mail to this address. */
export async function tryMail({ smtpUrl, mailFrom }: Config, publicUrl: string, to: string): Promise<Finding> {
  const said = { check: 'mail_sent', expected: `a mail server that takes a mail to ${to}` };
  if (smtpUrl === undefined)
    return { ...said, ok: false, found: 'no mail server, so that nothing leaves this machine. Set GATEHOUSE_SMTP_URL' };
  const mail = await createMail(smtpUrl, mailFrom);
  if (mail.transport !== 'smtp') throw new Error('expected a transport by SMTP'); // there is an address of one
  const text = `gatehouse doctor sent this for ${publicUrl}, from ${mailFrom}. Mails of sign-ins go the same way.\n`;
  const message = { to, subject: `A mail of ${new URL(publicUrl).host}, to try it out`, text, html: `<p>${text.trim()}</p>` };
  try {
    await mail.send(message, uuidV7(Date.now()), AbortSignal.timeout(smtpTimeoutMs));
    return { ...said, ok: true, found: `the mail server took it. See that it is in the mailbox of ${to}, and not in its spam` };
  } catch (error) {
    return { ...said, ok: false, found: wordsOf(error) };
  } finally {
    mail.close();
  }
}

const knownWithinMs = 5000;
const callback = 'https://app.invalid/callback'; // RFC 6761: no host
const identifier = 'doctor@people.invalid';

/** Signs somebody in at the server that runs on this database. */
export async function trySignIn(administrator: Administrator): Promise<Finding> {
  const slug = `doctor-${randomLetters('abcdefghijkmnpqrstuvwxyz', 12)}`;
  const said = { check: 'sign_in', expected: `a sign-in below ${administrator.publicUrl}` };
  const settings = { login_methods: [phoneMethod] };
  const created = await createTenant(administrator, { slug, name: 'A trial of gatehouse doctor', settings, actor: by.actor });
  if (!created.ok) throw new Error(`expected ${slug} to be free`); // 60 random bits
  const { tenant } = created;
  const tried = await signInAt(administrator, tenant);
  const removed = await removeTenant(administrator, tenant.id, by);
  if (!removed.ok) throw new Error(`expected to delete the tenant ${slug}. Try: gatehouse tenant delete ${slug} --confirm ${slug}`);
  return { ...said, ...tried };
}

/** Never throws: the tenant is to be deleted. */
async function signInAt(administrator: Administrator, tenant: Tenant): Promise<Pick<Finding, 'ok' | 'found'>> {
  const startedAt = performance.now();
  let step = 'The server';
  try {
    for await (const next of signInBySteps(administrator, tenant)) step = next;
    return { ok: true, found: `somebody signed in by a phone and got tokens, in ${Math.round(performance.now() - startedAt)} ms` };
  } catch (error) {
    return { ok: false, found: `${step}: ${wordsOf(error)}` };
  }
}

/** Yields what it comes to next. */
async function* signInBySteps(administrator: Administrator, tenant: Tenant): AsyncGenerator<string, void> {
  await untilKnown(tenant);
  yield 'A person and an application';
  const { user, clientId } = await populate(administrator, tenant);
  yield 'The phone, whose requests are signed with their address';
  const link = (): Promise<string> =>
    administrator.database.write(tenant.id, async (queries) => {
      const { qrUri } = await createEnrollment(queries, administrator, tenant, user, false);
      return qrUri;
    });
  const phone = await openTestPhone(tenant.baseUrl, link);
  yield 'The application, which reads the metadata';
  const relyingParty = await import('openid-client');
  const issuer = new URL(tenant.baseUrl);
  const execute = issuer.protocol === 'http:' ? [relyingParty.allowInsecureRequests] : [];
  const config = await relyingParty.discovery(issuer, clientId, undefined, relyingParty.None(), { execute });
  const verifier = relyingParty.randomPKCECodeVerifier();
  const state = relyingParty.randomState();
  const authorize = relyingParty.buildAuthorizationUrl(config, {
    redirect_uri: callback,
    scope: 'openid',
    state,
    code_challenge: await relyingParty.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  yield 'The sign-in page and the approval';
  const answered = await signInByPhone(phone, identifier, authorize.href);
  yield 'The tokens';
  const checks = { pkceCodeVerifier: verifier, expectedState: state, idTokenExpected: true };
  const tokens = await relyingParty.authorizationCodeGrant(config, new URL(answered), checks);
  if (tokens.claims()?.sub !== user) throw new Error(`expected the ID token of ${user}, found one of ${tokens.claims()?.sub}`);
}

/** A running server hears of a new tenant within a second; one that never does has another database, or is another server. */
async function untilKnown({ baseUrl }: Tenant): Promise<void> {
  const address = `${baseUrl}/.well-known/openid-configuration`;
  const endsAt = performance.now() + knownWithinMs;
  for (;;) {
    const { status } = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(knownWithinMs) });
    if (status === 200) return;
    if (performance.now() > endsAt)
      throw new Error(`it answers ${status} at ${address}, of a tenant that this database has. Does it run on another database?`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function populate(administrator: Administrator, tenant: Tenant) {
  const client = await createClient(
    administrator,
    { tenant, by },
    { name: 'A trial', type: 'public', token_endpoint_auth_method: 'none', redirect_uris: [callback], scopes: ['openid'] },
  );
  if (!client.ok) throw new Error(client.fault.text);
  const user = await createUser(
    administrator,
    tenant.id,
    {
      state: 'active',
      origin: 'console',
      roles: [],
      profile: { user_name: identifier },
      lists: { emails: [{ value: identifier, type: null, display: null, is_primary: 1 }] },
    },
    by,
  );
  if (!user.ok) throw new Error(`expected a free ${user.field}`);
  return { user: user.user.row.id, clientId: client.client.clientId };
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== '' ? `${error.message} (${cause.message})` : error.message;
}
