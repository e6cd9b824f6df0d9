// `gatehouse doctor`: looks at configuration, database, keys, clock, public URL, proxy and mail of a deployment, and names what
// was expected and what was found. Exit 1 when a check fails.
import type { Command } from 'commander';
import { sql } from 'kysely';
import { openKeyRing } from '../crypto/key-ring.ts';
import { migrationState } from '../storage/migrations/migrator.ts';
import { listSigningKeys } from '../storage/signing-keys.ts';
import { listTenants } from '../storage/tenants.ts';
import { type Administrator, addCommonOptions, administer, allPages, type Options, pageRows } from './administrator.ts';
import { CommandFailure } from './failure.ts';

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly expected: string;
  readonly found: string;
}

const fetchTimeoutMs = 5000;
const skewMsMax = 5000;

export function doctorCommand(program: Command): void {
  addCommonOptions(program.command('doctor').description('Check a deployment and say what is wrong')).action(async (options: Options) => {
    await administer(options, async (administrator) => {
      const findings: Finding[] = [];
      for (const check of [checkDatabase, checkKeys, checkPublicUrl, checkMail]) findings.push(...(await check(administrator)));
      administrator.print(
        { ok: findings.every((finding) => finding.ok), findings },
        findings.map(
          ({ check, ok, expected, found }) =>
            `${ok ? 'ok  ' : 'FAIL'}  ${check.padEnd(12)} ${ok ? found : `expected ${expected}, found ${found}`}`,
        ),
      );
      const failed = findings.filter((finding) => !finding.ok);
      if (failed.length > 0)
        throw new CommandFailure(
          `${failed.length} of ${findings.length} checks failed: ${failed.map((finding) => finding.check).join(', ')}`,
        );
    });
  });
}

async function checkDatabase({ database, config, clock }: Administrator): Promise<readonly Finding[]> {
  const { pending, unknown } = await migrationState(database);
  const { rows } = await database.systemRead((queries) => sql<{ now: number }>`SELECT gatehouse_now_ms() AS now`.execute(queries));
  const skewMs = Math.abs(clock.nowMs() - (rows[0]?.now ?? 0));
  const kind = config.databaseUrl === undefined ? `embedded database in ${config.dataFolder}` : 'PostgreSQL';
  return [
    {
      check: 'database',
      ok: pending.length === 0 && unknown.length === 0,
      expected: "this release's schema",
      found:
        pending.length > 0
          ? `migrations ${pending.join(', ')} missing`
          : unknown.length > 0
            ? `migrations ${unknown.join(', ')} of a newer release`
            : kind,
    },
    {
      check: 'clock',
      ok: skewMs <= skewMsMax,
      expected: `at most ${skewMsMax / 1000} s between process and database`,
      found: `${(skewMs / 1000).toFixed(1)} s`,
    },
  ];
}

/** Every tenant's keys open under the master key, and each algorithm has a current and a next one. */
async function checkKeys({ database, encryption }: Administrator): Promise<readonly Finding[]> {
  const tenants = await allPages(
    (afterSlug) => database.systemRead((queries) => listTenants(queries, { afterSlug, limit: pageRows })),
    (tenant) => tenant.slug,
  );
  const faults: string[] = [];
  for (const tenant of tenants) {
    const keys = await database.read(tenant.tenant_id, (queries) => listSigningKeys(queries, tenant.tenant_id));
    try {
      openKeyRing(tenant.tenant_id, keys, encryption);
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error));
    }
    for (const [name, ring] of Map.groupBy(keys, (key) => `${key.use} ${key.alg}`))
      for (const state of ['current', 'next'])
        if (!ring.some((key) => key.state === state)) faults.push(`tenant ${tenant.slug} without a ${state} ${name} key`);
  }
  const found = faults.length === 0 ? `${tenants.length} tenants, every key opens` : faults.join('; ');
  return [
    { check: 'keys', ok: faults.length === 0 && tenants.length > 0, expected: 'keys that open, one current and one next each', found },
  ];
}

async function checkPublicUrl({ publicUrl, config, clock }: Administrator): Promise<readonly Finding[]> {
  const address = `${publicUrl}/.well-known/openid-configuration`;
  const expected = `issuer ${publicUrl} from ${address}`;
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(fetchTimeoutMs), redirect: 'manual' });
    const body: unknown = response.status === 200 ? await response.json() : undefined;
    const issuer = typeof body === 'object' && body !== null && 'issuer' in body ? String(body.issuer) : `status ${response.status}`;
    const date = Date.parse(response.headers.get('date') ?? '');
    const skewMs = Number.isNaN(date) ? 0 : Math.abs(clock.nowMs() - date);
    const proxies = config.trustedProxies.length === 0 ? 'none trusted' : `trusted: ${config.trustedProxies.join(', ')}`;
    const viaProxy = response.headers.has('via') || publicUrl.startsWith('https:');
    return [
      { check: 'public_url', ok: issuer === publicUrl, expected, found: issuer },
      {
        check: 'proxy',
        ok: !viaProxy || config.trustedProxies.length > 0,
        expected: 'GATEHOUSE_TRUSTED_PROXIES with the address of the proxy that ends TLS',
        found: proxies,
      },
      {
        check: 'http_clock',
        ok: skewMs <= skewMsMax,
        expected: `at most ${skewMsMax / 1000} s to the server's Date`,
        found: `${(skewMs / 1000).toFixed(1)} s`,
      },
    ];
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return [{ check: 'public_url', ok: false, expected, found: `${cause}. Start it with: gatehouse serve` }];
  }
}

async function checkMail({ config }: Administrator): Promise<readonly Finding[]> {
  if (config.smtpUrl === undefined)
    return [
      {
        check: 'mail',
        ok: true,
        expected: 'an SMTP server at smtp_url, or the outbox',
        found: 'no SMTP: mails stay in the outbox (GET /v1/system/outbox)',
      },
    ];
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ url: config.smtpUrl, connectionTimeout: fetchTimeoutMs, greetingTimeout: fetchTimeoutMs });
  try {
    await transport.verify();
    return [{ check: 'mail', ok: true, expected: 'an SMTP server at smtp_url', found: 'the SMTP server answers' }];
  } catch (error) {
    return [
      { check: 'mail', ok: false, expected: 'an SMTP server at smtp_url', found: error instanceof Error ? error.message : String(error) },
    ];
  } finally {
    transport.close();
  }
}
