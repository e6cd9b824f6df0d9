// A form of the console that comes without one of its fields, or without any, is refused or does what it says: it never fails (design 23, 5).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { fillTenant, pagesOf, plainPages, withoutOwnScript } from '../support/console-pages.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Form {
  readonly at: string;
  readonly fields: Readonly<Record<string, string>>;
}

const decoded = (text: string): string => text.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));

/** The forms of a page that post, with what a browser would send of them. */
function formsOf(page: string): readonly Form[] {
  return [...page.matchAll(/<form[^>]* method="post"([^>]*)>(.*?)<\/form>/gs)].flatMap(([all, , inner]): readonly Form[] => {
    const at = /action="[^"]*\/console([^"]*)"/.exec(all)?.[1];
    if (at === undefined || at === '/sign-out' || all.includes('multipart')) return [];
    const fields: Record<string, string> = {};
    for (const [tag, name] of inner!.matchAll(/<input[^>]*? name="?([^"\s>]+)[^>]*>/g))
      if (name !== 'csrf' && (!/type="?(?:checkbox|radio)/.test(tag) || / checked/.test(tag)))
        fields[name!] = decoded(/ value="([^"]*)"/.exec(tag)?.[1] ?? 'on');
    for (const [, name, text] of inner!.matchAll(/<textarea name="([^"]+)"[^>]*>\n?([^<]*)</g)) fields[name!] = decoded(text!);
    for (const [, name, options] of inner!.matchAll(/<select[^>]* name="([^"]+)"[^>]*>(.*?)<\/select>/gs))
      fields[name!] = decoded(/value="([^"]*)" selected/.exec(options!)?.[1] ?? /<option value="([^"]*)"/.exec(options!)?.[1] ?? '');
    return [{ at: decoded(at), fields }];
  });
}

describe('forms of the console without their fields', () => {
  let server: TestServer;
  let visitor: AppVisitor;
  const forms = new Map<string, Form>();
  before(async () => {
    server = await startTestServer('sqlite');
    const { tenant, email } = await createConsoleTenant(server);
    ({ visitor } = await openConsole(server, tenant, email));
    const ids = await fillTenant(server, tenant, 'Plain name');
    for (const path of [...plainPages, ...pagesOf(ids)])
      for (const form of formsOf(withoutOwnScript(await (await visitor.page(path)).text())))
        forms.set(`${form.at} ${form.fields['section'] ?? ''} ${Object.keys(form.fields).join(' ')}`, form);
  });
  after(() => server.close());

  it('are refused or done', async () => {
    assert.ok(forms.size > 100, String(forms.size));
    const failed: string[] = [];
    for (const { at, fields } of forms.values()) {
      const names = Object.keys(fields);
      // All at once first: what a form deletes or ends is asked before, and then its other posts would say nothing.
      for (const without of [names, ...names.map((name) => [name])]) {
        const sent = Object.fromEntries(Object.entries(fields).filter(([name]) => !without.includes(name)));
        const { status } = await visitor.submit(at, sent);
        if (status >= 500) failed.push(`${at} without ${without.join(', ')}: ${status}`);
      }
    }
    assert.deepEqual(failed, []);
  });
});
