// An administrator at the console: a tenant with one, and the sign-in, without a browser and in one.

import type { Page } from 'playwright-core';
import { openApp } from './first-party-app.ts';
import { pinOf } from './mailbox.ts';
import { createTestTenant, type Json, type Managed } from './management.ts';
import type { TestServer } from './server.ts';

/** A tenant with email PIN sign-in and a person of that role in it. */
export async function createConsoleTenant(
  server: TestServer,
  person: Json = {},
): Promise<{ readonly tenant: Managed; readonly email: string }> {
  const tenant = await createTestTenant(server, { settings: { login_methods: ['email_pin'] } });
  const email = `admin@${tenant.slug}.example`;
  await tenant.make('POST', '/users', {
    user_name: email,
    role: 'admin',
    name: { given_name: 'Ada', family_name: 'Lovelace' },
    emails: [{ value: email, primary: true }],
    ...person,
  });
  return { tenant, email };
}

/** Signs a person in to the console of the tenant. */
export const openConsole = (server: TestServer, tenant: Managed, email: string): ReturnType<typeof openApp> =>
  openApp(server, 'console', tenant, email);

/** The same in a browser, to a page of the console; with `withButton` the form is sent by its button, as it is where no script runs. */
export async function signInInBrowser(
  server: TestServer,
  page: Page,
  { tenant, email }: { readonly tenant: Managed; readonly email: string },
  { path = '', withButton = false }: { readonly path?: string; readonly withButton?: boolean } = {},
): Promise<void> {
  await page.goto(`${tenant.baseUrl}/console${path}`);
  await page.fill('#identifier', email);
  await page.press('#identifier', 'Enter');
  await page.waitForSelector('#pin');
  await page.fill('#pin', await pinOf(server, email));
  await page.press('#pin', 'Enter');
  if (withButton) await page.click('#continue');
  await page.waitForURL(`**/console${path}`);
}

/** The fields of a section's form as a browser would send them; names of several boxes with a blank between. */
export function fieldsOfForm(page: string, section: string): Readonly<Record<string, string>> {
  const start = page.indexOf(`name="section" value="${section}"`);
  const form = page.slice(start, page.indexOf('</form>', start));
  const decode = (text: string): string => text.replace(/&#(\d+);/g, (_match, code: string) => String.fromCharCode(Number(code)));
  const fields: Record<string, string> = { section };
  for (const [, type, name, rest] of form.matchAll(/<input type="(number|text|hidden|checkbox|radio)" name="([^"]+)"([^>]*)>/g)) {
    const value = decode(/value="([^"]*)"/.exec(rest!)?.[1] ?? (type === 'checkbox' ? 'on' : ''));
    if (type === 'checkbox' && rest!.includes(' checked')) fields[name!] = `${fields[name!] ?? ''} ${value}`.trim();
    else if (type === 'radio' ? rest!.includes(' checked') : type !== 'checkbox') fields[name!] = value;
  }
  for (const [, name, text] of form.matchAll(/<textarea name="([^"]+)"[^>]*>\n([^<]*)<\/textarea>/g)) fields[name!] = decode(text!);
  for (const [, name, options] of form.matchAll(/<select name="([^"]+)"[^>]*>(.*?)<\/select>/g)) {
    const [, value, text] = /<option(?: value="([^"]*)")? selected>([^<]*)</.exec(options!) ?? [];
    fields[name!] = decode(value ?? text ?? '');
  }
  return fields;
}

/** What the form that saves an import of metadata sends, besides its token. */
export function previewedIn(text: string): Record<string, string> {
  const [form = ''] = /<form[^>]* id="preview">.*?<\/form>/s.exec(text) ?? [];
  const fields = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
    name!,
    value!.replaceAll(/&#(\d+);/g, (_, char: string) => String.fromCharCode(Number(char))),
  ]);
  return Object.fromEntries(fields.filter(([name]) => name !== 'csrf'));
}
