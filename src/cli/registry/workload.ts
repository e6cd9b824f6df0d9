// `gatehouse client create --workload <preset>:<name>=<value>,…`: which tokens of a platform a client is known by, the issuer of those, and
// what is written on the platform. An issuer that is there is never changed: it may be what other clients are known by.
import { createThing } from '../../administration/kinds.ts';
import { registered } from '../../administration/registered.ts';
import { workloadsPerClientMax } from '../../contract/limits.ts';
import { type WorkloadIssuer, workloadIssuerKind } from '../../domain/client/workload.ts';
import {
  isPresetName,
  issuerOfPreset,
  presetNames,
  readPreset,
  type WorkloadPreset,
  whyNotTaken,
  workloadPresets,
} from '../../domain/client/workload-presets.ts';
import type { Json } from '../../domain/field.ts';
import type { Kind } from '../../domain/kind.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { CommandFailure, usage } from '../failure.ts';
import { type Administrator, by } from './administrator.ts';
import { requireShape } from './kind.ts';

interface WantedWorkload {
  readonly preset: WorkloadPreset;
  readonly given: Readonly<Record<string, string>>;
  /** Its issuer, as it is registered where there is none. */
  readonly issuer: Json;
}

/** What each flag says. @throws CommandFailure */
export async function readWorkloads(texts: readonly string[]): Promise<readonly WantedWorkload[]> {
  if (texts.length > workloadsPerClientMax)
    throw usage(`--workload: expected at most ${workloadsPerClientMax} of them, found ${texts.length}`);
  return Promise.all(texts.map(readWorkload));
}

async function readWorkload(text: string): Promise<WantedWorkload> {
  const at = text.indexOf(':');
  const name = at < 0 ? text : text.slice(0, at);
  if (!isPresetName(name)) throw usage(`--workload: expected one of ${presetNames.join(', ')}, found ${JSON.stringify(name)}`);
  const preset = workloadPresets[name];
  const read = readPreset(preset, wordsOf(at < 0 ? '' : text.slice(at + 1)));
  if (!read.ok) throw usage(`--workload ${name}: expected ${read.expected}, found ${read.found}. See: gatehouse client create --help`);
  const issuer = issuerIn(preset, read.given);
  await requireShape(workloadIssuerKind as unknown as Kind, 'create', issuer); // of these fields, as every kind
  return { preset, given: read.given, issuer };
}

/** A comma is a part of a value unless a name follows. */
function wordsOf(text: string): Readonly<Record<string, string>> {
  const words = text.split(/,(?=[a-z_]+=)/).filter((word) => word !== '');
  const pairs = words.map((word) => [/^[^=]*/.exec(word)![0], word.replace(/^[^=]*=?/, '')] as const);
  const twice = pairs.find(([name], at) => pairs.findIndex(([other]) => other === name) < at);
  if (twice !== undefined) throw usage(`--workload: expected ${twice[0]}=… once, found it twice`);
  return Object.fromEntries(pairs);
}

function issuerIn(preset: WorkloadPreset, given: WantedWorkload['given']): Json {
  try {
    return issuerOfPreset(preset, given);
  } catch {
    throw usage('--workload: jwks: expected a JSON Web Key Set, found no JSON');
  }
}

/** The workload issuer, made where the tenant has none of its name. @throws CommandFailure where the one it has is another */
export async function requireIssuer(
  administrator: Administrator,
  tenant: Tenant,
  { issuer: given }: WantedWorkload,
): Promise<{ readonly issuer: WorkloadIssuer; readonly isNew: boolean }> {
  const { rows } = registered.workload_issuer;
  const found = await administrator.database.read(tenant.id, (queries) => rows.findBy(queries, tenant.id, 'issuer', given['issuer']));
  if (found === undefined) {
    const made = await createThing(registered.workload_issuer, administrator, { tenant, by }, given);
    if (made.ok) return { issuer: made.thing, isNew: true };
    if (made.reason === 'faulty') throw usage(`--workload: ${made.fault.field}: ${made.fault.text}`);
    throw new Error('nothing that was not there is unknown');
  }
  const fault = whyNotTaken(found, given);
  if (fault === undefined) return { issuer: found, isNew: false };
  throw new CommandFailure(
    `expected the workload issuer ${found.issuer} ${fault}. See: gatehouse workload-issuer show ${found.id} --tenant ${tenant.slug}`,
  );
}
