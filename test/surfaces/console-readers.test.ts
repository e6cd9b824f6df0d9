// Who may not change a thing does not see what changes it (design 23, part 5): no page offers an auditor anything, and support what
// support may do alone.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { type ConsoleIds, fillTenant, pagesOf, plainPages } from '../support/console-pages.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestUser } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** What forms of a page post to, below the console. */
const postsOf = (page: string): readonly string[] =>
  [...page.matchAll(/<form\b[^>]*>/g)]
    .map(([tag]) => tag)
    .filter((tag) => /method="?post/.test(tag))
    .map((tag) => /action="[^"]*?\/console([^"]*)"/.exec(tag)?.[1] ?? tag);

/** What managers of an organisation see is shown whole to whoever may look, and nothing of it can be pressed. */
const withoutDisabled = (page: string): string => page.replace(/<fieldset id="view" disabled>[\s\S]*<\/fieldset>/, '');

describe('readers of the console', () => {
  let server: TestServer;
  let ids: ConsoleIds;
  const visitors: Record<string, AppVisitor> = {};
  before(async () => {
    server = await startTestServer('sqlite');
    const { tenant } = await createConsoleTenant(server);
    ids = await fillTenant(server, tenant, 'Engineers');
    for (const role of ['auditor', 'support']) {
      const email = `${role}@readers.example`;
      await createTestUser(tenant, email, { admin_roles: [role] });
      visitors[role] = (await openConsole(server, tenant, email)).visitor;
    }
  });
  after(() => server.close());

  const offered = async (role: string): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const path of [...plainPages, ...pagesOf(ids)]) {
      const response = await visitors[role]!.page(path);
      if (response.status !== 200) continue;
      for (const post of postsOf(withoutDisabled(await response.text()))) if (post !== '/sign-out') found.push(`${path} -> ${post}`);
    }
    return found;
  };

  it('an auditor is offered nothing that changes something', async () => {
    assert.deepEqual(await offered('auditor'), []);
  });

  it('support is offered what is done to people, and no more', async () => {
    const found = await offered('support');
    assert.ok(found.some((one) => /-> \/users\/[^/]+\/suspend$/.test(one)));
    assert.deepEqual(
      found.filter((one) => !/-> \/users(?:\/|$)/.test(one) || /\/(?:recoveries|roles)/.test(one)),
      [],
    );
    const list = await (await visitors['support']!.page('/users')).text();
    assert.doesNotMatch(list, /id="bulk-group"/);
  });

  it('a page that only makes something is told as not theirs', async () => {
    for (const path of ['/clients/new', '/users/invite', '/users/spreadsheet', '/service-providers/import', '/resources/mcp-server'])
      assert.equal((await visitors['auditor']!.page(path)).status, 403, path);
  });
});
