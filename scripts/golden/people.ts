// The people of the golden tenant: provisioned by SCIM and by an administrator, in groups, assigned, with phones, signed in.
import { createHash, randomUUID } from 'node:crypto';
import { signText } from '../../sdk/node.ts';
import { enrollText } from '../../sdk/signing.ts';
import type { GoldenKey, GoldenRefresh, GoldenSecrets } from '../../test/support/golden.ts';
import { makeKey, type PhoneKey, publicFields, signCall, spkiSha256 } from '../../test/support/phone.ts';
import type { Caller, Json } from './caller.ts';
import { type Application, type ManagementCall, redirectUri } from './registrations.ts';

export interface People {
  readonly ada: string;
  readonly grace: string;
  readonly team: string;
}

const core = 'urn:ietf:params:scim:schemas:core:2.0:User';
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const adaEmail = 'ada@golden.example';
export const graceEmail = 'grace@golden.example';

const ada: Json = {
  schemas: [core, enterprise],
  externalId: 'EXT-1',
  userName: adaEmail,
  name: {
    formatted: 'Lady Ada King Lovelace',
    familyName: 'Lovelace',
    givenName: 'Ada',
    middleName: 'King',
    honorificPrefix: 'Lady',
    honorificSuffix: 'I',
  },
  displayName: 'Ada Lovelace',
  nickName: 'Ada',
  profileUrl: 'https://golden.example/ada',
  title: 'Countess',
  userType: 'Employee',
  preferredLanguage: 'en-GB',
  locale: 'en-GB',
  timezone: 'Europe/London',
  active: true,
  emails: [
    { value: adaEmail, type: 'work', primary: true },
    { value: 'ada@home.example', type: 'home', display: 'Home' },
  ],
  phoneNumbers: [
    { value: '+44 20 7946 0000', type: 'work', primary: true },
    { value: '+44 7700 900000', type: 'mobile' },
  ],
  ims: [{ value: 'ada', type: 'xmpp' }],
  photos: [{ value: 'https://golden.example/ada.jpg', type: 'photo' }],
  addresses: [
    {
      formatted: '12 St James’s Square',
      streetAddress: '12 St James’s Square',
      locality: 'London',
      region: 'London',
      postalCode: 'SW1Y',
      country: 'GB',
      type: 'work',
      primary: true,
    },
  ],
  entitlements: [{ value: 'engine' }],
  roles: [{ value: 'author', display: 'Author' }],
  x509Certificates: [{ value: 'MIIDQzCCAqygAwIBAgICEAAwDQYJKoZIhvcNAQEF' }],
  [enterprise]: {
    employeeNumber: '1815',
    costCenter: '4130',
    organization: 'Analytical Society',
    division: 'Engines',
    department: 'Notes',
  },
};

/** Users in every state, groups of both origins, memberships. */
export async function provisionPeople(caller: Caller, manage: ManagementCall, base: string, token: string): Promise<People> {
  const scim = (method: string, path: string, body?: unknown): Promise<Json> => caller.make(method, `${base}/scim/v2${path}`, token, body);
  const first = String((await scim('POST', '/Users', ada))['id']);
  const second = String(
    (
      await scim('POST', '/Users', {
        schemas: [core, enterprise],
        userName: graceEmail,
        displayName: 'Grace ホッパー',
        emails: [{ value: graceEmail, type: 'work', primary: true }],
        [enterprise]: { manager: { value: first, displayName: 'Ada Lovelace' }, department: 'Compilers' },
      })
    )['id'],
  );
  await scim('PATCH', `/Users/${second}`, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'add', path: 'phoneNumbers', value: [{ value: '+1 555 0100', type: 'work' }] }],
  });
  const bare = String(
    (
      await scim('POST', '/Users', {
        schemas: [core],
        userName: 'Bare.User',
        active: false,
        emails: [{ value: 'bare@golden.example', primary: true }],
      })
    )['id'],
  );
  const team = String(
    (
      await scim('POST', '/Groups', {
        schemas: [groupSchema],
        displayName: 'Engineers',
        externalId: 'G-1',
        members: [{ value: first }, { value: second }],
      })
    )['id'],
  );
  const admin = String(
    (
      await manage('POST', '/users', {
        user_name: 'admin@golden.example',
        role: 'admin',
        display_name: 'Admin',
        name: { given_name: 'Ad', family_name: 'Min' },
        emails: [{ value: 'admin@golden.example', primary: true }],
      })
    )['id'],
  );
  const group = String((await manage('POST', '/groups', { display_name: 'Administrators' }))['id']);
  await manage('POST', `/groups/${group}/members`, { user_id: admin });
  const suspended = String((await manage('POST', '/users', { user_name: 'suspended' }))['id']);
  await manage('POST', `/users/${suspended}/suspend`);
  const deleted = String(
    (await manage('POST', '/users', { user_name: 'deleted', emails: [{ value: 'gone@golden.example', primary: true }] }))['id'],
  );
  await manage('POST', `/groups/${group}/members`, { user_id: deleted });
  await manage('DELETE', `/users/${deleted}`);
  const left = String(
    (
      await scim('POST', '/Users', {
        schemas: [core],
        userName: 'left@golden.example',
        emails: [{ value: 'left@golden.example', primary: true }],
      })
    )['id'],
  );
  await scim('DELETE', `/Users/${left}`);
  await manage('PATCH', `/users/${bare}`, { title: 'Nobody' });
  return { ada: first, grace: second, team };
}

/** An enrolled phone of the user, and one that was revoked; gives the first with its keys. */
export async function enrolPhones(caller: Caller, manage: ManagementCall, base: string, userId: string): Promise<GoldenSecrets['phone']> {
  const revoked = await enrolPhone(caller, manage, base, userId, 'Old phone');
  await manage('DELETE', `/devices/${revoked.deviceId}`);
  return enrolPhone(caller, manage, base, userId, 'Phone');
}

async function enrolPhone(
  caller: Caller,
  manage: ManagementCall,
  base: string,
  userId: string,
  name: string,
): Promise<GoldenSecrets['phone']> {
  const { enrollment_token: token } = await manage('POST', `/users/${userId}/enrollments`, {});
  const deviceId = randomUUID();
  const keys = [makeKey('pop', 'ES256'), makeKey('uv', 'EdDSA')] as const;
  const call = async (path: string, body: Json): Promise<Json> => {
    const { url, init } = signCall({ baseUrl: base, deviceId, nowMs: Date.now }, keys[0], 'POST', `/v1/device${path}`, { body });
    const response = await caller.send(url, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Json;
  };
  const redeemed = await call('/enrollment/redeem', {
    enrollment_token: token,
    device: { platform: 'ios', name, model: 'Golden 1', os_version: '18.1', app_version: '1.0' },
    keys: keys.map(publicFields),
  });
  const { challenge } = redeemed['attestation'] as { readonly challenge: string };
  const prove = (key: PhoneKey): Json => {
    const { keyId } = key;
    const text = enrollText({ issuer: base, deviceId, keyId, publicKeySha256: spkiSha256(key), challenge });
    return { key_id: keyId, signature: signText(key.privateKey, text).toString('base64') };
  };
  await call('/enroll', { registration_token: redeemed['registration_token'], proofs: keys.map(prove) });
  return { deviceId, keys: keys.map(keptKey) };
}

const keptKey = ({ keyId, purpose, alg, privateKey }: PhoneKey): GoldenKey => ({
  keyId,
  purpose,
  alg,
  privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
});

export interface SignedIn {
  readonly accessToken: string;
  readonly refresh: GoldenRefresh;
}

/** Signs the person in to the client by the PIN of the mail and refreshes once. */
export async function signIn(
  caller: Caller,
  base: string,
  operatorToken: string,
  { clientId, clientSecret }: Application,
  email: string,
): Promise<SignedIn> {
  const verifier = 'verifier-of-the-golden-server-0123456789-abcdefgh';
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid profile email offline_access',
    state: 's',
    nonce: 'n',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const started = await caller.send(`${base}/v1/idp/oidc/authorize?${query}`);
  const location = started.headers.get('location') ?? '';
  const headers = {
    accept: 'application/json',
    cookie: started.headers
      .getSetCookie()
      .map((line) => line.split(';', 1)[0])
      .join('; '),
  };
  const step = (name: string, fields: Readonly<Record<string, string>> = {}): Promise<Json> =>
    caller.form(`${location}/${name}`, fields, headers);
  const identified = await step('identify', { identifier: email });
  if (identified['state'] === 'choose') await step('method', { method: 'email_pin' });
  const outbox = await caller.make('GET', `/v1/system/outbox?to=${encodeURIComponent(email)}`, operatorToken);
  const pin = /^\d{8}$/m.exec((outbox['messages'] as readonly { readonly text: string }[]).at(-1)?.text ?? '')?.[0] ?? '';
  await step('pin', { pin });
  const code = new URL(String((await step('finish'))['redirect_to'])).searchParams.get('code') ?? '';
  const authorization: Record<string, string> =
    clientSecret === undefined ? {} : { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` };
  const form = { grant_type: 'refresh_token', ...(clientSecret === undefined ? { client_id: clientId } : {}) };
  const token = (fields: Readonly<Record<string, string>>): Promise<Json> =>
    caller.form(`${base}/v1/idp/oidc/token`, { ...form, ...fields }, authorization);
  const issued = await token({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier });
  const used = String(issued['refresh_token']);
  const refreshed = await token({ refresh_token: used });
  return {
    accessToken: String(refreshed['access_token']),
    refresh: { form, ...authorization, live: String(refreshed['refresh_token']), used },
  };
}
