// A tenant with organisations whose directories call their own SCIM, as whoever manages the tenant sees them.
import assert from 'node:assert/strict';
import type { DatabaseName } from './databases.ts';
import { startDns } from './dns-server.ts';
import { createTestTenant, type Json } from './management.ts';
import { patchBody, type ScimResult, userBody } from './scim.ts';
import { startTestServer } from './server.ts';

export interface Directory {
  /** Of the organisation. */
  readonly id: string;
  readonly token: string;
  readonly call: (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<ScimResult>;
  /** Makes a user named so; gives the id. */
  readonly newUser: (name: string, more?: Json) => Promise<string>;
}

export const rename = patchBody(
  { op: 'replace', path: 'displayName', value: 'Mallory' },
  { op: 'replace', path: 'emails[primary eq true].value', value: 'mallory@evil.example' },
);
export const suspend = patchBody({ op: 'replace', path: 'active', value: false });
export const admit = patchBody({ op: 'replace', path: 'active', value: true });
export const dataOf = (event: Json | undefined): Json => event?.['data'] as Json;

/** One SCIM request. */
export async function ask(
  url: string,
  token: string,
  method = 'GET',
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<ScimResult> {
  const type: Readonly<Record<string, string>> = body === undefined ? {} : { 'content-type': 'application/scim+json' };
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, ...type, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: (text === '' ? {} : JSON.parse(text)) as Json };
}

/** What a tenant with two organisations is asked in a test. */
export async function openDirectories(database: DatabaseName) {
  const dns = await startDns();
  const server = await startTestServer(database, { flags: { dns_servers: dns.address } });
  const tenant = await createTestTenant(server);
  let made = 0;
  const fresh = (name: string): string => {
    made += 1;
    return `${name}${made}`;
  };
  const addressOf = (id: string, at = tenant): string => `${at.baseUrl}/v1/scim/organizations/${id}`;
  const tokenFor = async (id: string): Promise<string> =>
    String((await tenant.make('POST', `/organizations/${id}/scim-tokens`, { name: 'directory', expires_in_days: null }))['token']);
  const directoryOf = async (id: string): Promise<Directory> => {
    const token = await tokenFor(id);
    const call: Directory['call'] = (method, path, body, headers) => ask(addressOf(id) + path, token, method, body, headers);
    const newUser: Directory['newUser'] = async (name, more = {}) => {
      const result = await call('POST', '/Users', { ...userBody(name), ...more });
      assert.equal(result.status, 201, JSON.stringify(result.body));
      return String(result.body['id']);
    };
    return { id, token, call, newUser };
  };
  const organization = async (fields: Json = {}): Promise<string> =>
    String((await tenant.make('POST', '/organizations', { name: fresh('org-'), ...fields }))['id']);
  const join = async (directory: Directory, user: string): Promise<void> => {
    const { status } = await tenant.call('PUT', `/organizations/${directory.id}/members/${user}`, {});
    assert.ok(status < 300, String(status));
  };
  const userOf = (id: string): Promise<Json> => tenant.make('GET', `/users/${id}`);
  const membersOf = async ({ id }: Directory): Promise<readonly Json[]> =>
    (await tenant.make<{ items: readonly Json[] }>('GET', `/organizations/${id}/members`)).items;
  const eventsOf = async ({ id }: Directory, type: string): Promise<readonly Json[]> =>
    (await tenant.make<{ items: readonly Json[] }>('GET', `/events?target=organization:${id}&type=${type}`)).items;
  /** An organisation whose domain its TXT record has proven. */
  const owning = async (domain: string, fields: Json = {}): Promise<Directory> => {
    const id = await organization({ domains: [domain], ...fields });
    const { domain_proofs: proofs } = await tenant.make<{ domain_proofs: readonly Json[] }>('GET', `/organizations/${id}`);
    dns.records.set(String(proofs[0]?.['name']), [String(proofs[0]?.['value'])]);
    await tenant.make('POST', `/organizations/${id}/check-domains`);
    return directoryOf(id);
  };
  const acme = await directoryOf(await organization());
  const globex = await directoryOf(await organization());
  const close = async (): Promise<void> => {
    await dns.close();
    await server.close();
  };
  return {
    server,
    dns,
    tenant,
    acme,
    globex,
    fresh,
    addressOf,
    tokenFor,
    directoryOf,
    organization,
    owning,
    join,
    userOf,
    membersOf,
    eventsOf,
    close,
  };
}
