// E11: what a past release wrote goes on working. Its database opens and migrates, its refresh tokens refresh, its phones
// sign, its passkeys and keys are there; its backup restores; a document exported from it is the one it exported.
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { migrationState } from '../../src/storage/engine/migrations/ledger.ts';
import { databases } from '../support/databases.ts';
import { createOtherTenant } from '../support/fixtures.ts';
import { askGolden, goldenIssuer, goldenReleases, readGoldenAnswers, readGoldenDocument } from '../support/golden.ts';
import { type GoldenServer, startGoldenServer } from '../support/golden-server.ts';
import { jsonOf } from '../support/management.ts';
import { signCall } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';

const newest = [
  'scim:write',
  'users:recover',
  ...['webhooks', 'administrators', 'invitations', 'branding', 'mail', 'domain'].flatMap((name) => [`${name}:read`, `${name}:write`]),
  'ssf.read',
  'ssf.manage',
  'connectors:read',
  'connectors:write',
  'sign-in:read',
  'sign-in:write',
  'organizations:read',
  'organizations:write',
];

for (const release of goldenReleases)
  for (const name of databases) {
    describe(`the database of release ${release} on ${name}`, () => {
      let golden: GoldenServer;
      before(async () => {
        golden = await startGoldenServer(release, name);
      });
      after(() => golden.close());
      const base = (): string => `${golden.origin}/t/${golden.secrets.tenant}`;

      it('is migrated to the end', async () => {
        assert.deepEqual(await migrationState(golden.server.gatehouse.services.database), { pending: [], unknown: [] });
      });

      it('its tokens for resources open UserInfo as before; those of a new tenant do not', async () => {
        const { services } = golden.server.gatehouse;
        const before = await services.tenants.bySlug(golden.secrets.tenant);
        assert.equal(before?.settings.userinfo_with_resource, true);
        const since = await createOtherTenant(services, 'since-then');
        assert.equal(since.settings.userinfo_with_resource, false);
      });

      it('refresh tokens refresh; one shown again ends its family', async () => {
        for (const { form, authorization, live, used } of golden.secrets.refresh) {
          const refresh = (token: string): Promise<Response> =>
            fetch(`${base()}/v1/idp/oidc/token`, {
              method: 'POST',
              body: new URLSearchParams({ ...form, refresh_token: token }),
              headers: authorization === undefined ? {} : { authorization },
            });
          const first = await jsonOf<{ readonly refresh_token: string; readonly id_token: string }>(await refresh(live), 200);
          assert.match(first.id_token, /^[\w-]+\.[\w-]+\.[\w-]+$/);
          const second = await jsonOf<{ readonly refresh_token: string }>(await refresh(first.refresh_token), 200);
          await assertRefusal(await refresh(used), 'token.refresh_invalid');
          await assertRefusal(await refresh(second.refresh_token), 'token.refresh_invalid');
        }
      });

      it('its phone signs', async () => {
        const { deviceId, keys } = golden.secrets.phone;
        const { privateKey, ...key } = keys[0]!;
        const { url, init } = signCall(
          { baseUrl: `${goldenIssuer}/t/${golden.secrets.tenant}`, deviceId, nowMs: golden.server.clock.nowMs },
          { ...key, publicKey: '', privateKey: createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' }) },
          'GET',
          '/v1/device/self',
        );
        const self = await jsonOf<{ readonly user: { readonly email: string } }>(
          await fetch(url.replace(goldenIssuer, golden.origin), init),
          200,
        );
        assert.equal(self.user.email, 'grace@golden.example');
      });
    });

    describe(`the backup of release ${release} on ${name}`, () => {
      let golden: GoldenServer;
      before(async () => {
        golden = await startGoldenServer(release, name, 'backup');
      });
      after(() => golden.close());

      it('restores, is migrated, and answers as the release did', async () => {
        assert.deepEqual(await migrationState(golden.server.gatehouse.services.database), { pending: [], unknown: [] });
        const published = readGoldenAnswers(release, name).filter(({ path }) => /\/jwks$/.test(path));
        assert.equal(published.length, 2);
        // Headers are compared where every answer is (golden-answers.test.ts).
        for (const recorded of published)
          assert.deepEqual({ ...(await askGolden(golden.origin, recorded, golden.secrets)), headers: {} }, { ...recorded, headers: {} });
      });

      it('exports the document the release exported', async () => {
        const file = join(golden.server.config.dataFolder, 'document.yaml');
        const { code, stderr } = await golden.command('export', '--tenant', golden.secrets.tenant, '--with-secrets', '--out', file);
        assert.equal(code, 0, stderr);
        // The flag of 0.1.0 did nothing and reads as the default now, and what it took as branding nobody read; a limit that protects people is on; who had every capability
        // has the new ones too (migrations 222, 281, 322, 331 and 500); its administrators are owners; its tokens for resources open UserInfo (550).
        const expected = readGoldenDocument(release, name)
          .replace('  sso_session: true\n', '')
          .replace('  login_methods:\n', '  userinfo_with_resource: true\n  login_methods:\n')
          .replace('    approvals_per_user: null\n', '')
          .replace('    role: admin\n', '    admin_roles:\n      - owner\n')
          .replace('  branding:\n    display_name: Golden\n    color: "#806000"\n', '')
          .replace(
            '      - scim:write\n    client_secret_sha256',
            `${newest.map((name) => `      - ${name}\n`).join('')}    client_secret_sha256`,
          );
        assert.equal(readFileSync(file, 'utf8'), expected);
      });
    });
  }
