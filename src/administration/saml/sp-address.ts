// A service provider from the metadata at its address (design 23, part 3): read as the refresh reads it, registered as an import of the same
// document is, and the address kept, so that it is read again. What was shown before is what is registered, or it is refused: a digest of
// the registration says whether it is the same. Called by the Management API.
import { hash } from 'node:crypto';
import { type Json, shownFields, toJson } from '../../domain/field.ts';
import { givenFault, type KindFault } from '../../domain/kind.ts';
import type { ProviderValues, ServiceProvider } from '../../domain/saml/service-provider.ts';
import { findRefresh, isSourceOf } from '../../storage/registry/metadata-refreshes.ts';
import { findServiceProviderByEntityId } from '../../storage/registry/service-providers.ts';
import type { Administration } from '../administration.ts';
import type { Acting } from '../kind-effects.ts';
import { wantedOf } from '../kind-values.ts';
import { changeFault, changeThing, createThing, type KindRefused, readNew } from '../kinds.ts';
import { planImport, type SpImport } from './sp-import.ts';
import { type Fetched, type MetadataSource, type ReadingDeps, readMetadata, type Unread } from './sp-reading.ts';
import { recordTaken, serviceProviders } from './sp-refresh.ts';

const { kind } = serviceProviders;

type ImportDeps = Pick<Administration, 'database' | 'cache' | 'encryption'> & ReadingDeps;

interface AddressImport {
  readonly url: string;
  /** Which one of a document that describes several. */
  readonly entityId: string | undefined;
  /** Who must have signed the document; undefined: whoever the registration names, if there is one. */
  readonly certificate: string | undefined;
  /** Of what was shown; undefined: nothing was. */
  readonly digest: string | undefined;
  readonly isDryRun: boolean;
  readonly inTurn: MetadataSource['inTurn'];
}

interface Imported {
  readonly ok: true;
  /** As it was registered; without it, a dry run. */
  readonly thing: ServiceProvider | undefined;
  /** The registration it is, or would be, a change of. */
  readonly known: ServiceProvider | undefined;
  readonly values: ProviderValues;
  readonly digest: string;
  readonly report: SpImport['report'];
}

type NotImported =
  | KindRefused
  | { readonly ok: false; readonly reason: 'unread'; readonly unread: Unread }
  /** It is not what was shown. */
  | { readonly ok: false; readonly reason: 'changed' };

/** What is wrong with what somebody gives, before anything is fetched. */
export function addressFault({
  url,
  entityId,
  certificate,
}: Pick<AddressImport, 'url' | 'entityId' | 'certificate'>): KindFault | undefined {
  const given = { metadata_url: url, entity_id: entityId, metadata_certificate: certificate };
  return givenFault(kind, Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)));
}

/** Whoever calls has asked for the capability, and counted the reading. */
export async function importFromAddress(deps: ImportDeps, acting: Acting, wanted: AddressImport): Promise<Imported | NotImported> {
  const { tenant } = acting;
  let known: ServiceProvider | undefined;
  const reading = await readMetadata(deps, tenant.id, {
    url: wanted.url,
    entityId: wanted.entityId,
    signerOf: async (entityId) => {
      known = await deps.database.read(tenant.id, (queries) => findServiceProviderByEntityId(queries, tenant.id, entityId));
      return signerFor(wanted, known);
    },
    etag: null,
    inTurn: wanted.inTurn,
  });
  if (reading.kind === 'failed') return { ok: false, reason: 'unread', unread: reading };
  if (reading.kind === 'unchanged') throw new Error('an answer of 304 to a request without a tag');
  const plan = planOf(reading, wanted, known);
  const planned = plannedValues(deps, acting, plan.fields, known);
  if (!planned.ok) return { ok: false, reason: 'faulty', fault: planned.fault };
  const digest = digestOf(planned.values);
  if (wanted.digest !== undefined && wanted.digest !== digest) return { ok: false, reason: 'changed' };
  const about = { ok: true, known, values: planned.values, digest, report: plan.report } as const;
  if (wanted.isDryRun) return { ...about, thing: undefined };
  const done =
    known === undefined
      ? await createThing(serviceProviders, deps, acting, plan.fields)
      : await changeKnown(deps, acting, { known, reading, wanted, digest });
  if (!done.ok) return done;
  const thing = done.thing as ServiceProvider; // its id is that of one
  await rememberReading(deps, tenant.id, thing, reading, plan.report);
  return { ...about, thing };
}

const signerFor = ({ certificate }: AddressImport, known: ServiceProvider | undefined): string | undefined =>
  certificate ?? known?.metadataCertificate;

/** What an import of the document does, and the address. */
function planOf({ metadata }: Fetched, { url, certificate }: AddressImport, before: ProviderValues | undefined): SpImport {
  const { fields, report } = planImport(metadata, before);
  const kept = { metadata_url: url, ...(certificate === undefined ? {} : { metadata_certificate: certificate }) };
  return { fields: { ...fields, ...kept }, report: { ...report, applied: [...report.applied, ...Object.keys(kept)] } };
}

type Planned = { readonly ok: true; readonly values: ProviderValues } | { readonly ok: false; readonly fault: KindFault };

/** The registration as it would be. */
function plannedValues(deps: ImportDeps, acting: Acting, fields: Json, known: ServiceProvider | undefined): Planned {
  if (known === undefined) return readNew(serviceProviders, { tenant: acting.tenant, nowMs: deps.clock.nowMs() }, fields);
  const wrong = givenFault(kind, fields);
  if (wrong !== undefined) return { ok: false, fault: wrong };
  const after = wantedOf(kind, fields, known, known);
  const fault = changeFault(serviceProviders, { store: deps, acting }, known, after);
  return fault === undefined ? { ok: true, values: after.values } : { ok: false, fault };
}

/** Of all that is registered, times aside. */
const digestOf = (values: ProviderValues): string => hash('sha256', JSON.stringify(toJson(shownFields(kind.fields), values)), 'base64url');

/** The registration became another while its metadata was read. */
class ChangedMeanwhile extends Error {}

interface Change {
  readonly known: ServiceProvider;
  readonly reading: Fetched;
  readonly wanted: AddressImport;
  readonly digest: string;
}

async function changeKnown(deps: ImportDeps, acting: Acting, { known, reading, wanted, digest }: Change) {
  const changed = { ok: false, reason: 'changed' } as const;
  try {
    const done = await changeThing(serviceProviders, deps, acting, known.id, (before) => {
      const { fields } = planOf(reading, wanted, before);
      const isSame = digestOf(wantedOf(kind, fields, before, before).values) === digest;
      if (!isSame || signerFor(wanted, before as ServiceProvider) !== signerFor(wanted, known)) throw new ChangedMeanwhile();
      return fields;
    });
    return !done.ok && done.reason === 'unknown' ? changed : done;
  } catch (error) {
    if (error instanceof ChangedMeanwhile) return changed;
    throw error;
  }
}

/** The address was read just now, and is read again when it is due. */
async function rememberReading(
  { database }: Pick<ImportDeps, 'database'>,
  tenant: Acting['tenant']['id'],
  provider: ServiceProvider,
  reading: Fetched,
  report: SpImport['report'],
): Promise<void> {
  await database.write(tenant, async (queries) => {
    const refresh = await findRefresh(queries, tenant, provider.id);
    if (refresh !== undefined && isSourceOf(refresh, provider)) await recordTaken(queries, refresh, reading, report);
  });
}
