// A directory that makes people here by SCIM: scim2-client where Python has it (scripts/install-judges), else plain requests.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findJudge } from '../../test/support/judge-binaries.ts';
import { userSchema } from '../../test/support/scim.ts';

/** Makes a person as a directory does. @throws what the directory would report */
export async function provision(base: string, token: string, email: string): Promise<void> {
  const python = findJudge('python3-scim');
  const found = python === undefined ? await byHand(base, token, email) : await byClient(python, base, token, email);
  if (found !== 1) throw new Error(`expected one ${email}, found ${found}`);
}

async function byClient(python: string, base: string, token: string, email: string): Promise<unknown> {
  const script = join(import.meta.dirname, 'scim-client.py');
  const { stdout } = await promisify(execFile)(python, [script, base, token, email]);
  return (JSON.parse(stdout) as { readonly found: unknown }).found;
}

async function byHand(base: string, token: string, email: string): Promise<unknown> {
  const call = async (path: string, init: RequestInit = {}): Promise<Readonly<Record<string, unknown>>> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' };
    const response = await fetch(`${base}${path}`, { ...init, headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Readonly<Record<string, unknown>>;
  };
  const person = { schemas: [userSchema], userName: email, emails: [{ value: email, primary: true }] };
  await call('/Users', { method: 'POST', body: JSON.stringify(person) });
  return (await call(`/Users?${new URLSearchParams({ filter: `userName eq "${email}"` })}`))['totalResults'];
}
