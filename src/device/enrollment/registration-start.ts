// Beginning a registration of an existing user, or a self-signup: the first mail and the registration token. Known, unknown
// and suspended people get the same answer for the same work (contract 7.17, design 05).
import { type Asking, strangerFrom } from '../../approvals/asker.ts';
import { loadPinPepper, type PinToSend, sendPin } from '../../approvals/mailed/pin.ts';
import { reject } from '../../contract/contract-error.ts';
import { emailCharsMax, nameCharsMax } from '../../contract/limits.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import { foldKey } from '../../domain/fold.ts';
import { languageFor } from '../../domain/language.ts';
import { isXmlText } from '../../domain/saml/xml-text.ts';
import { takeFar } from '../../http/budgets/far-budget.ts';
import { enforceRateLimit, giveBack, rateLimited } from '../../http/budgets/rate-limits.ts';
import { addressBlock } from '../../http/client-address.ts';
import { randomSecret, uuidV7 } from '../../platform/random.ts';
import { insertRegistration, type NewRegistration, type RegistrationKind } from '../../storage/device/device-registrations.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { findUserOfEmail, type UserOfEmail } from '../../storage/people/users.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { badField, type Fields, optionalText, requireText } from '../body-fields.ts';
import type { SignedRequest } from '../signed-call.ts';
import { isoTime } from '../times.ts';
import { demandSignupEnabled } from './enrolled-device.ts';
import { type FirstCall, parseFirstCall } from './first-call.ts';
import { askerOf, describePin } from './pin.ts';

interface Person {
  readonly email: string;
  readonly emailKey: string;
  readonly givenName: string | null;
  readonly familyName: string | null;
  readonly locale: string | null;
}

const localeCharsMax = 35; // BCP 47 section 4.4.1

/** POST /registration/start */
export async function startRegistration(signed: SignedRequest): Promise<object> {
  const first = await parseFirstCall(signed, parseEmail);
  return start(signed, 'registration', first);
}

/** POST /signup/start */
export async function startSignup(signed: SignedRequest): Promise<object> {
  const first = await parseFirstCall(signed, parsePerson);
  demandSignupEnabled(signed.tenant);
  return start(signed, 'signup', first);
}

async function start(signed: SignedRequest, kind: RegistrationKind, first: FirstCall<Person>): Promise<object> {
  const { services, tenant } = signed;
  const person = first.fields;
  await enforceRateLimit(services.rateLimiter, tenant, 'management', 'registration_starts_per_ip', addressBlock(signed.clientAddress));
  await limitStartsOfEmail(signed, person.emailKey);
  const pepper = await loadPinPepper(services, tenant);
  const id = uuidV7(services.clock.nowMs());
  const token = randomSecret();
  const outcome = await services.database.write(tenant.id, async (queries) => {
    const user = await findUserOfEmail(queries, tenant.id, person.emailKey);
    const active = user?.state === 'active' ? user : undefined;
    // A signup proves the mailbox whoever it belongs to; a registration writes only to people who may register.
    const to = kind === 'signup' ? person.email : active?.address;
    const sent = await sendPin(queries, services, tenant, pepper, mailOf(signed, { kind, id }, person, active, to));
    if (!sent.ok) return sent;
    const expiresAt = await store(queries, signed, { id, token, kind, first, userId: kind === 'signup' ? null : (active?.id ?? null) });
    return { ok: true, expiresAt, digits: sent.digits } as const;
  });
  if (!outcome.ok)
    throw reject(
      'pin.cooldown_active',
      { reason: 'sends_of_this_mailbox', expected: outcome.budget },
      { retryAfterSeconds: outcome.retryAfterSeconds },
    );
  return { registration_token: token, expires_at: isoTime(outcome.expiresAt), pin: describePin(tenant, outcome.digits) };
}

/** Strangers' budgets, near and far, as for a push. */
async function limitStartsOfEmail({ services, tenant, clientAddress, requestId }: SignedRequest, emailKey: string): Promise<void> {
  const name = 'registration_starts_per_email';
  const near = `${addressBlock(clientAddress)}:${emailKey}`;
  await enforceRateLimit(services.rateLimiter, tenant, 'management', name, near);
  const asking = async (): Promise<Asking> => {
    const user = await services.database.read(tenant.id, (queries) => findUserOfEmail(queries, tenant.id, emailKey));
    return { asker: strangerFrom(addressBlock(clientAddress)), userId: user?.id, requestId };
  };
  const waitSeconds = await takeFar(services, tenant, { name, key: emailKey, asked: 'codes', asking });
  if (waitSeconds === undefined) return;
  await giveBack(services.rateLimiter, tenant, name, near);
  throw rateLimited('management', `${name} (far)`, waitSeconds);
}

function mailOf(
  signed: SignedRequest,
  { kind, id }: { readonly kind: RegistrationKind; readonly id: string },
  person: Person,
  user: UserOfEmail | undefined,
  to: string | undefined,
): PinToSend {
  return {
    purpose: kind,
    subjectId: id,
    asker: askerOf(signed, { kind, id }),
    userId: user?.id,
    requestId: signed.requestId,
    mailKey: person.emailKey,
    to,
    purposeName: signed.tenant.name,
    language: languageFor(user, person.locale, signed.acceptLanguage),
    isFirst: true,
  };
}

async function store(
  queries: Queries,
  signed: SignedRequest,
  made: {
    readonly id: string;
    readonly token: string;
    readonly kind: RegistrationKind;
    readonly first: FirstCall<Person>;
    readonly userId: NewRegistration['user_id'];
  },
): Promise<number> {
  const { services, tenant } = signed;
  const { fields: person, device, slots } = made.first;
  const registration = {
    id: made.id,
    token_hash: hashSecret(made.token),
    kind: made.kind,
    email: person.email,
    email_key: person.emailKey,
    user_id: made.userId,
    given_name: person.givenName,
    family_name: person.familyName,
    locale: person.locale,
    device_id: signed.headers.deviceId,
    device: JSON.stringify(device),
    keys: JSON.stringify(slots),
    state: 'unverified' as const,
  };
  const lifetimeMs = tenant.settings.registration_token_lifetime_seconds * 1000;
  const expiresAt = await insertRegistration(queries, tenant.id, registration, lifetimeMs);
  await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
    type: `device.${made.kind}_started`,
    requestId: signed.requestId,
    actor: `device:${signed.headers.deviceId}`,
    target: `registration:${made.id}`,
  });
  return expiresAt;
}

function parseEmail(body: Fields): Person {
  const email = requireText(body, 'email', emailCharsMax).trim();
  if (!/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email) || !isXmlText(email)) throw badField('email', 'an email address');
  return { email, emailKey: foldKey(email), givenName: null, familyName: null, locale: null };
}

function parsePerson(body: Fields): Person {
  return {
    ...parseEmail(body),
    givenName: personText(body, 'given_name', nameCharsMax),
    familyName: personText(body, 'family_name', nameCharsMax),
    locale: personText(body, 'locale', localeCharsMax),
  };
}

/** What becomes an attribute of a user must fit into XML, like the texts the other writers of users take. */
function personText(body: Fields, name: string, charsMax: number): string | null {
  const text = optionalText(body, name, charsMax) ?? null;
  if (text !== null && !isXmlText(text)) throw badField(name, 'a text without control characters and lone surrogates');
  return text;
}
