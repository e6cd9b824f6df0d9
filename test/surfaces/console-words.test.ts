// A table of words (design 23, 5): no page of the console shows a name of the API. What has one is said in words, with the name in the
// tooltip; names stand in `<pre>`, in fields and in what is copied elsewhere. Rules of mappings are made of names: theirs stand in `<code>`.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventTypes } from '../../src/contract/events.ts';
import { capabilities, capabilityWords } from '../../src/domain/people/capabilities.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { actingForms, askingForms, type ConsoleIds, fillTenant, pagesOf, plainPages, withoutOwnScript } from '../support/console-pages.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import type { Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { rawNames, rawNamesIn, visibleTexts } from '../support/visible-words.ts';

describe('words in the console', () => {
  let server: TestServer;
  let tenant: Managed;
  let visitor: AppVisitor;
  let ids: ConsoleIds;
  let names: ReadonlySet<string>;
  let requestId: string;
  before(async () => {
    server = await startTestServer('sqlite');
    const created = await createConsoleTenant(server);
    tenant = created.tenant;
    names = rawNames(await (await fetch(`${tenant.baseUrl}/v1/management/openapi.json`)).json());
    ({ visitor } = await openConsole(server, tenant, created.email));
    ids = await fillTenant(server, tenant, 'Plain name');
    const refused = await fetch(`${tenant.baseUrl}/v1/idp/oidc/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: ids.client, client_secret: 'wrong' }),
    });
    requestId = refused.headers.get('x-request-id') ?? '';
  });
  after(() => server.close());

  const rawOn = (path: string, page: string): readonly string[] =>
    rawNamesIn(visibleTexts(withoutOwnScript(page), /^\/mappings|\/rules$/.test(path) ? 'without names' : 'with names'), names).map(
      (raw) => `${path}: ${raw}`,
    );

  it('the list of names is whole: capabilities, events, fields, checks, grants, ways', () => {
    for (const name of [
      ...capabilities,
      ...Object.keys(eventTypes).filter((type) => type.includes('.')),
      'user_name',
      'redirect_uris',
      'user_suspended',
      'refresh_token',
      'email_pin',
    ])
      assert.ok(names.has(name), name);
    assert.ok(names.size > 500, String(names.size));
    assert.deepEqual(Object.keys(capabilityWords).toSorted(), capabilities.toSorted());
  });

  it('finds a name wherever it is read, and none in a tooltip', () => {
    const page =
      '<p title="users:read">See people <b>user_name</b></p><input placeholder="client_id"><p>Oh no (emails)</p><pre>user_name</pre>';
    assert.deepEqual(rawNamesIn(visibleTexts(page), names), ['user_name: See people user_name', 'client_id: client_id', 'Oh no (emails)']);
  });

  it('no page shows one', async () => {
    const raw: string[] = [];
    for (const path of [...plainPages, ...pagesOf(ids), `/explain?request_id=${requestId}`])
      raw.push(...rawOn(path, await (await visitor.page(path)).text()));
    assert.deepEqual(raw, []);
  });

  it('no question and no refused form does', async () => {
    const raw: string[] = [];
    for (const path of askingForms(ids)) raw.push(...rawOn(path, await (await visitor.submit(path, {})).text()));
    for (const path of actingForms(ids)) {
      const answer = await visitor.submit(path, {
        name: '\u0001',
        user_name: '',
        email_list: 'none',
        redirect_uris: 'none',
        section: 'none',
      });
      if (answer.status >= 400) raw.push(...rawOn(path, await answer.text()));
    }
    assert.deepEqual(raw, []);
  });
});
