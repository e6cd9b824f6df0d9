// How a deployment stands: its database, public URL, proxy, clock and mail server, each with what was expected and what was found.
// `gatehouse doctor` tells it, with what only the machine knows, and the console of operators does.
import { sql } from 'kysely';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../storage/engine/database.ts';
import { migrationState } from '../storage/engine/migrations/ledger.ts';
import { listMissingLookups, type MissingLookups } from '../storage/engine/trigram-search.ts';

export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly expected: string;
  readonly found: string;
}

const fetchTimeoutMs = 5000;
const skewMsMax = 5000;

/** Schema, clock and look-ups of the database; `place` is what it is called. */
export async function checkDatabase(database: Database, clock: Clock, place: string): Promise<readonly Finding[]> {
  const { pending, unknown } = await migrationState(database);
  const { rows } = await database.systemRead((queries) => sql<{ now: number }>`SELECT gatehouse_now_ms() AS now`.execute(queries));
  const skewMs = Math.abs(clock.nowMs() - (rows[0]?.now ?? 0));
  const search = database.dialect === 'postgres' ? [searchFinding(await database.systemRead(listMissingLookups))] : [];
  return [
    {
      check: 'database',
      ok: pending.length === 0,
      expected: "this release's schema",
      found:
        pending.length > 0
          ? `migrations ${pending.join(', ')} missing`
          : unknown.length > 0
            ? `${place}, with migrations ${unknown.join(', ')} of the next release`
            : place,
    },
    {
      check: 'clock',
      ok: skewMs <= skewMsMax,
      expected: `at most ${skewMsMax / 1000} s between process and database`,
      found: `${(skewMs / 1000).toFixed(1)} s`,
    },
    ...search,
  ];
}

function searchFinding({ names, isInstalled }: MissingLookups): Finding {
  const scans = 'without them a search by a part of a name reads the whole tenant';
  return {
    check: 'search',
    ok: names.length === 0 || !isInstalled,
    expected: 'the look-up functions of `gatehouse migrate`',
    found: !isInstalled
      ? `no extension pg_trgm, ${scans}`
      : names.length === 0
        ? 'every look-up function'
        : `none named ${names.join(', ')}; ${scans}`,
  };
}

/** Whether the public URL leads here, through a proxy that is trusted, and how its clock goes. */
export async function checkPublicUrl(publicUrl: string, trustedProxies: readonly string[], clock: Clock): Promise<readonly Finding[]> {
  const address = `${publicUrl}/.well-known/openid-configuration`;
  const expected = `issuer ${publicUrl} from ${address}`;
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(fetchTimeoutMs), redirect: 'manual' });
    const body: unknown = response.status === 200 ? await response.json() : undefined;
    const issuer = typeof body === 'object' && body !== null && 'issuer' in body ? String(body.issuer) : `status ${response.status}`;
    const date = Date.parse(response.headers.get('date') ?? '');
    const skewMs = Number.isNaN(date) ? 0 : Math.abs(clock.nowMs() - date);
    const proxies = trustedProxies.length === 0 ? 'none trusted' : `trusted: ${trustedProxies.join(', ')}`;
    const viaProxy = response.headers.has('via') || publicUrl.startsWith('https:');
    return [
      { check: 'public_url', ok: issuer === publicUrl, expected, found: issuer },
      {
        check: 'proxy',
        ok: !viaProxy || trustedProxies.length > 0,
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

/** Whether the mail server of the deployment answers. */
export async function checkMail(smtpUrl: string | undefined, canMail: boolean): Promise<Finding> {
  if (smtpUrl === undefined)
    return {
      check: 'mail',
      ok: true,
      expected: 'an SMTP server at smtp_url, or the outbox',
      found: canMail
        ? 'no SMTP: mails stay in the outbox (GET /v1/system/outbox)'
        : 'no SMTP: new tenants offer no mailed codes, links of invitations are to copy; mails stay in the outbox. Set GATEHOUSE_SMTP_URL',
    };
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ url: smtpUrl, connectionTimeout: fetchTimeoutMs, greetingTimeout: fetchTimeoutMs });
  try {
    await transport.verify();
    return { check: 'mail', ok: true, expected: 'an SMTP server at smtp_url', found: 'the SMTP server answers' };
  } catch (error) {
    return {
      check: 'mail',
      ok: false,
      expected: 'an SMTP server at smtp_url',
      found: error instanceof Error ? error.message : String(error),
    };
  } finally {
    transport.close();
  }
}
