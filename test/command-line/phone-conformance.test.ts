// `gatehouse phone conformance --link`: our own server passes every rule, at its own host and below a path; a server that breaks
// one rule fails exactly where it does.
import assert from 'node:assert/strict';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Verdict } from '../../src/cli/conformance/report.ts';
import { runGatehouse } from '../support/conformance.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, createEnrollmentToken, createUser, unlimited } from '../support/enrolled-phone.ts';
import { createTestTenant } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const verdictsOf = (out: string): readonly Verdict[] => (JSON.parse(out) as { verdicts: readonly Verdict[] }).verdicts;

for (const database of databases) {
  describe(`phone conformance of a server on ${database}`, () => {
    let proxy: Server;
    let spoil: (body: string) => string = (body) => body;
    let server: TestServer;
    let made = 0;
    before(async () => {
      proxy = createServer((request, response) => {
        const { port } = server.gatehouse.app.server.address() as AddressInfo;
        const { url: path = '', method = '', headers } = request;
        const forwarded = httpRequest({ host: '127.0.0.1', port, path, method, headers }, async (answer) => {
          let text = '';
          answer.setEncoding('utf8');
          for await (const chunk of answer) text += chunk;
          response.writeHead(answer.statusCode ?? 0, { 'content-type': 'application/json' }).end(spoil(text));
        });
        request.pipe(forwarded);
      });
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      server = await startTestServer(database, { flags: { public_url: url } });
      await changeSettings(server, unlimited);
    });
    after(async () => {
      await server.close();
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    });

    const linkOf = async (tenant?: { readonly id: string; readonly baseUrl: string }): Promise<string> => {
      made += 1;
      const user = await createUser(server, `person${made}@example.com`, tenant?.id);
      return `${tenant?.baseUrl ?? server.url}/enroll#v=1&t=${await createEnrollmentToken(server, user)}`;
    };

    it('our server holds every rule, and the device is revoked', async () => {
      const { code, out, error } = await runGatehouse(['phone', 'conformance', '--link', await linkOf()]);
      assert.deepEqual([code, error], [0, ''], out.replace(/^pass.*\n/gm, ''));
      const lines = out.trim().split('\n');
      assert.ok(lines.length > 90, out);
      assert.equal(lines.at(-1), `${lines.length - 1} of ${lines.length - 1} rules hold.`);
      assert.ok(lines.slice(0, -1).every((line) => line.startsWith('pass  ')));
    });

    it('so does a tenant below a path', async () => {
      const tenant = await createTestTenant(server);
      await changeSettings(server, unlimited, tenant.id);
      const { code, out } = await runGatehouse(['phone', 'conformance', '--json', '--link', await linkOf(tenant)]);
      assert.deepEqual([code, verdictsOf(out).filter(({ passed }) => !passed)], [0, []]);
    });

    it('a server that breaks a rule fails that rule and no other', async () => {
      spoil = (body) => body.replace('"kind":"replayed_request"', '"kind":"bad_signature"');
      const { code, out } = await runGatehouse(['phone', 'conformance', '--json', '--link', await linkOf()]);
      const failed = verdictsOf(out).filter(({ passed }) => !passed);
      assert.deepEqual(
        [code, failed.map(({ rule }) => rule)],
        [1, ['the same request twice', 'the same request with its signature’s twin', 'the same request with its signature in DER']],
      );
      assert.match(failed[0]!.expected!, /401 .*replayed_request.*wrong: kind/);
      assert.match(failed[0]!.found!, /bad_signature/);
      spoil = (body) => body.replace(/"attestation":/, '"asked":');
      const other = await runGatehouse(['phone', 'conformance', '--link', await linkOf()]);
      assert.deepEqual([other.code, /FAIL {2}redeem: the link’s token\n {6}expected .*\n {6}found /.test(other.out)], [1, true], other.out);
      spoil = (body) => body;
    });

    it('a link that is none, or was used, is said', async () => {
      const none = await runGatehouse(['phone', 'conformance', '--link', 'https://login.example/enroll']);
      assert.deepEqual(
        [none.code, none.error.trim()],
        [1, 'gatehouse: --link: expected <base_url>/enroll#v=1&t=<token>, found https://login.example/enroll'],
      );
      const link = await linkOf();
      assert.equal((await runGatehouse(['phone', 'conformance', '--link', link])).code, 0);
      const used = await runGatehouse(['phone', 'conformance', '--link', link]);
      assert.match(used.error, /gatehouse: expected an unused enrolment link without a PIN, found 401/);
    });
  });
}
