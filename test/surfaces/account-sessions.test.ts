// Sessions on the account page: what one is signed in to, ending one or all, and nothing of anybody else’s.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { accountListRows } from '../../src/contract/limits.ts';
import type { SsoSessionId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { openSsoSession } from '../../src/storage/sign-in/sso-sessions.ts';
import { createAccountTenant, domainTenant, openAccount, textOf, withoutRequest } from '../support/account.ts';
import { databases } from '../support/databases.ts';
import type { TestUser } from '../support/enrolled-phone.ts';
import { createClient } from '../support/fixtures.ts';
import { type IssuedTokens, issueTokens } from '../support/issued-tokens.ts';
import type { Managed } from '../support/management.ts';
import { refresh } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertEscaped, xssCorpus } from '../support/xss.ts';

for (const database of databases) {
  describe(`account sessions on ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    before(async () => {
      server = await startTestServer(database);
      managed = await createAccountTenant(server);
      tenant = await domainTenant(server, managed);
    });
    after(() => server.close());

    const signInTo = async (
      person: TestUser,
      name: string,
      of: Tenant = tenant,
    ): Promise<IssuedTokens & { readonly works: () => Promise<boolean> }> => {
      const { services } = server.gatehouse;
      const client = await createClient(services, of, { name });
      const tokens = await issueTokens(services, of, client, person.id);
      let { refreshToken } = tokens;
      const works = async (): Promise<boolean> => {
        const response = await refresh(of, client, refreshToken);
        const body = (await response.json()) as { refresh_token?: string; error?: string };
        if (response.status === 200) refreshToken = body.refresh_token ?? '';
        else assert.deepEqual([response.status, body.error], [400, 'invalid_grant']);
        return response.status === 200;
      };
      return { ...tokens, works };
    };

    it('each browser that is signed in is listed and signed out; one of somebody else is unknown', async () => {
      const { visitor, person } = await openAccount(server, managed);
      const open = (userId: TestUser['id'], userAgent: string): Promise<string> =>
        server.gatehouse.services.database.write(tenant.id, (queries) => {
          const browser = { newId: randomUUID() as SsoSessionId, newHash: randomUUID(), oldHash: undefined };
          const policy = { idleSeconds: 600, absoluteSeconds: 600, isPersistent: false };
          const how = {
            acr: 'otp',
            method: 'email_pin',
            amr: ['otp'],
            deviceId: undefined,
            external: undefined,
            passkeyId: undefined,
            ip: undefined,
          } as const;
          return openSsoSession(queries, tenant.id, policy, browser, { ...how, userId, userAgent, authTimeMs: server.clock.nowMs() });
        });
      const own = await open(person.id, 'Firefox <b>');
      const foreign = await open((await openAccount(server, managed)).person.id, 'Other');
      const list = await textOf(await visitor.page('/sessions'), 200);
      assert.match(list, /<h3>Firefox &#60;b&#62;<\/h3>/);
      assert.doesNotMatch(list, /<h3>Other/);
      assert.equal((await visitor.submit(`/sessions/browsers/${foreign}/end`, {})).status, 404);
      assert.equal((await visitor.submit(`/sessions/browsers/${own}/end`, {})).status, 303);
      assert.doesNotMatch(await textOf(await visitor.page('/sessions'), 200), /Firefox/);
      assert.equal((await visitor.submit(`/sessions/browsers/${own}/end`, {})).status, 404);
    });

    it('each application one is signed in to is listed; one ends, the others live', async () => {
      const { visitor, person } = await openAccount(server, managed);
      await server.clock.advance(1000); // lists go by the time of a sign-in
      const shop = await signInTo(person, 'Harbour Shop');
      await server.clock.advance(1000);
      const wiki = await signInTo(person, 'Harbour Wiki');
      const list = await textOf(await visitor.page('/sessions'), 200);
      assert.match(
        list,
        /<h2>Harbour Wiki<\/h2>[\s\S]*<h2>Harbour Shop<\/h2>[\s\S]*account<\/h2><p class="muted">This is where you are now/,
      );
      assert.equal(list.match(/Signed in by<\/dt><dd>code by email/g)?.length, 3);
      const ended = await visitor.submit(`/sessions/${shop.grantId}/end`, {});
      assert.deepEqual(
        [ended.status, ended.headers.get('location')],
        [303, `${new URL(managed.baseUrl).pathname}/account/sessions?done=doneEnded`],
      );
      assert.equal(await shop.works(), false);
      assert.equal(await wiki.works(), true);
      const after = await textOf(await visitor.page('/sessions?done=doneEnded'), 200);
      assert.match(after, /role="status" id="notice">The session was ended/);
      assert.doesNotMatch(after, /Harbour Shop/);
      assert.equal((await visitor.submit(`/sessions/${shop.grantId}/end`, {})).status, 404);
      assert.match(await textOf(await visitor.page('/activity'), 200), /A session was ended\./);
    });

    it('a session of another person or tenant is as unknown as one that never was, and lives on', async () => {
      const { visitor } = await openAccount(server, managed);
      const { person: neighbour } = await openAccount(server, managed);
      const elsewhere = await createAccountTenant(server);
      const { person: stranger } = await openAccount(server, elsewhere);
      const near = await signInTo(neighbour, 'Near');
      const far = await signInTo(stranger, 'Far', await domainTenant(server, elsewhere));
      const answers = new Set<string>();
      for (const id of ['0199a000-0000-7000-8000-000000000000', near.grantId, far.grantId, 'x'])
        answers.add(withoutRequest(await textOf(await visitor.submit(`/sessions/${id}/end`, {}), 404)));
      assert.equal(answers.size, 1);
      assert.deepEqual([await near.works(), await far.works()], [true, true]);
      assert.doesNotMatch(await textOf(await visitor.page('/sessions'), 200), /Near|Far/);
    });

    it('all of them end after a question, this one too, and nobody else’s', async () => {
      const { visitor, person } = await openAccount(server, managed);
      const { visitor: neighbour } = await openAccount(server, managed);
      const shop = await signInTo(person, 'Shop');
      assert.match(await textOf(await visitor.page('/sessions/end-all'), 200), /End all sessions\?/);
      assert.equal(await shop.works(), true);
      const cookie = visitor.cookie();
      assert.match(await textOf(await visitor.submit('/sessions/end-all', {}), 200), /<h1>Signed out<\/h1>/);
      assert.equal(await shop.works(), false);
      assert.equal((await fetch(`${managed.baseUrl}/account`, { redirect: 'manual', headers: { cookie } })).status, 303);
      assert.equal((await neighbour.page('')).status, 200);
    });

    it('many come by pages, and one whose refresh token is over is not shown', async () => {
      const { visitor, person } = await openAccount(server, managed);
      for (let number = 0; number < accountListRows; number += 1) await signInTo(person, `App ${number}.`);
      const over = await signInTo(person, 'Long over');
      await server.gatehouse.services.database.write(person.tenant, async (queries) => {
        await queries
          .updateTable('refresh_tokens')
          .set({ expires_at: 1 })
          .where('tenant_id', '=', person.tenant)
          .where('grant_id', '=', over.grantId)
          .execute();
        await queries
          .updateTable('grants')
          .set({ created_at: 1 })
          .where('tenant_id', '=', person.tenant)
          .where('id', '=', over.grantId)
          .execute();
      });
      const first = await textOf(await visitor.page('/sessions'), 200);
      const next = /id="next" href="([^"]+)"/.exec(first)?.[1] ?? '';
      const second = await textOf(await visitor.page(next.split('/account')[1]!), 200);
      const names = [first, second].map((page) => [...page.matchAll(/<h2>([^<]+)</g)].map((match) => match[1]));
      assert.deepEqual(
        names.map((page) => page.length),
        [accountListRows, 1],
      );
      assert.equal(new Set(names.flat()).size, accountListRows + 1);
      assert.ok(!names.flat().includes('Long over'));
    });

    it('markup in the name of an application stays text', async () => {
      const { visitor, person } = await openAccount(server, managed);
      for (const text of xssCorpus.slice(0, accountListRows - 1)) await signInTo(person, text);
      const page = await textOf(await visitor.page('/sessions'), 200);
      for (const text of xssCorpus.slice(0, accountListRows - 1)) assertEscaped(page, text);
    });
  });
}
