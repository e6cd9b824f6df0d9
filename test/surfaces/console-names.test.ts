// What a name says is text on every page of the console, and so is what was typed into a form that is refused.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { nameCharsMax } from '../../src/contract/limits.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { askingForms, type ConsoleIds, fillTenant, pagesOf, withoutOwnScript } from '../support/console-pages.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertEscaped, xssCorpus } from '../support/xss.ts';

/** Texts of the corpus in each name, as many as it holds: a tenant filled for each alone takes minutes. */
const xssNames: string[][] = [];
for (const text of xssCorpus) {
  const last = xssNames.at(-1);
  if (last !== undefined && [...last, text].join(' ').length <= nameCharsMax) last.push(text);
  else xssNames.push([text]);
}

for (const database of databases) {
  describe(`names in the console on ${database}`, () => {
    let server: TestServer;
    let visitor: AppVisitor;
    let own: ConsoleIds;
    before(async () => {
      server = await startTestServer(database);
      const { tenant, email } = await createConsoleTenant(server);
      ({ visitor } = await openConsole(server, tenant, email));
      own = await fillTenant(server, tenant, 'Plain name');
    });
    after(() => server.close());

    it('names stay text on every page that shows them', async () => {
      const named = (ids: ConsoleIds): readonly string[] => pagesOf(ids).filter((path) => !path.startsWith('/webhooks')); // those have no names
      const pages = named(own).length + 6;
      let shown = 0;
      for (const [index, texts] of xssNames.entries()) {
        const text = texts.join(' ');
        const ids = await fillTenant(server, visitor.tenant, text, `xss${index}`);
        const lists = ['/clients', '/resources', '/workload-issuers', '/users', '/groups', '/service-providers'].map(
          (path) => `${path}?search=${encodeURIComponent(text)}`,
        );
        for (const path of [...named(ids), ...lists]) {
          const response = await visitor.page(path);
          assert.equal(response.status, 200, path);
          const page = await response.text();
          for (const each of texts) assertEscaped(page, each);
          shown += 1;
        }
        for (const path of askingForms(ids)) assertNoMarkup(await (await visitor.submit(path, {})).text(), path);
        for (const path of [
          '/events?type=',
          '/events?actor=',
          '/explain?request_id=',
          `/groups/${ids.group}/members?find=`,
          '/clients?cursor=',
        ])
          assertNoMarkup(await (await visitor.page(`${path}${encodeURIComponent(text)}`)).text(), path);
      }
      assert.equal(shown, pages * xssNames.length);
    });

    it('a refused form shows what was typed as text', async () => {
      for (const text of xssCorpus) {
        const refused = await visitor.submit('/clients', { name: text, redirect_uris: text, grant_types: text });
        assert.equal(refused.status, 400);
        assertEscaped(await refused.text(), text);
        assertNoMarkup(await (await visitor.submit('/scim', { name: '' })).text(), '/scim');
        assertNoMarkup(await (await visitor.submit('/scim/test', { client_id: text, client_secret: text })).text(), '/scim/test');
      }
    });
  });
}

function assertNoMarkup(text: string, where: string): void {
  const found = /<(?:script|img|iframe|base|math)|<svg onload|<meta http-equiv|<form action=https:/.exec(withoutOwnScript(text));
  assert.equal(found, null, where);
}
