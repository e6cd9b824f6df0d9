// A service provider from its metadata (design 15, "Import"; design 23, part 3): a document that somebody gives, or the one at an address,
// which is read as the refresh reads it and kept, so that it is read again. What was shown before is what is registered, or it is refused: a
// digest of the registration says whether it is the same. Called by the Management API.
import { hash } from 'node:crypto';
import { type Json, shownFields, toJson } from '../../domain/field.ts';
import { givenFault, type KindFault, type Thing } from '../../domain/kind.ts';
import type { ProviderValues, ServiceProvider } from '../../domain/saml/service-provider.ts';
import { findRefresh, isSourceOf } from '../../storage/registry/metadata-refreshes.ts';
import { findServiceProviderByEntityId } from '../../storage/registry/service-providers.ts';
import type { Administration } from '../administration.ts';
import type { Acting } from '../kind-effects.ts';
import { wantedOf } from '../kind-values.ts';
import { changeFault, changeThing, createThing, type KindRefused, readNew } from '../kinds.ts';
import { planImport, type SpImport } from './sp-import.ts';
import { type Fetched, type Given, type MetadataSource, type ReadingDeps, readDocument, readMetadata, type Unread } from './sp-reading.ts';
import { recordTaken, serviceProviders } from './sp-refresh.ts';

const { kind } = serviceProviders;

type ImportDeps = Pick<Administration, 'database' | 'cache' | 'encryption'> & ReadingDeps;

export interface MetadataImport {
  /** Where it is: at an address, which is kept, or in the bytes of a document. */
  readonly from: { readonly url: string } | { readonly document: Uint8Array };
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

/** What is wrong with what somebody gives, before anything is read. */
export function importFault({
  from,
  entityId,
  certificate,
}: Pick<MetadataImport, 'from' | 'entityId' | 'certificate'>): KindFault | undefined {
  const given = { ...addressOf(from), entity_id: entityId, metadata_certificate: certificate };
  return givenFault(kind, Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)));
}

const addressOf = (from: MetadataImport['from']): Json => ('url' in from ? { metadata_url: from.url } : {});

/** Whoever calls has asked for the capability, and counted the reading of an address. */
export async function importMetadata(deps: ImportDeps, acting: Acting, wanted: MetadataImport): Promise<Imported | NotImported> {
  const { tenant } = acting;
  let known: ServiceProvider | undefined;
  const reading = await readWanted(deps, tenant.id, wanted, async (entityId) => {
    known = await deps.database.read(tenant.id, (queries) => findServiceProviderByEntityId(queries, tenant.id, entityId));
    return signerFor(wanted, known);
  });
  if (reading.kind === 'failed') return { ok: false, reason: 'unread', unread: reading };
  const { fields, report } = planOf(reading, wanted, known);
  const planned = plannedValues(deps, acting, fields, known);
  if (!planned.ok) return { ok: false, reason: 'faulty', fault: planned.fault };
  const { values } = planned;
  const digest = digestOf(values);
  if (wanted.digest !== undefined && wanted.digest !== digest) return { ok: false, reason: 'changed' };
  const would = { ok: true, known, values, digest, report } as const;
  if (wanted.isDryRun) return { ...would, thing: undefined };
  const done: Done =
    known === undefined
      ? await createThing(serviceProviders, deps, acting, fields)
      : await changeKnown(deps, acting, { known, reading, wanted });
  if (!done.ok) return done;
  const thing = done.thing as ServiceProvider; // its id is that of one
  const told = done.told ?? { digest, report };
  if (reading.kind === 'fetched') await rememberReading(deps, tenant.id, thing, reading, told.report);
  return { ...would, ...told, thing };
}

async function readWanted(
  deps: ImportDeps,
  tenant: Acting['tenant']['id'],
  { from, entityId, inTurn }: MetadataImport,
  signerOf: MetadataSource['signerOf'],
): Promise<Unread | Given | Fetched> {
  if ('document' in from) return inTurn((pace) => readDocument(deps, from.document, { entityId, signerOf }, { pace }));
  const reading = await readMetadata(deps, tenant, { url: from.url, entityId, signerOf, etag: null, inTurn });
  if (reading.kind === 'unchanged') throw new Error('an answer of 304 to a request without a tag');
  return reading;
}

const signerFor = ({ certificate }: MetadataImport, known: ServiceProvider | undefined): string | undefined =>
  certificate ?? known?.metadataCertificate;

/** What the document does to a registration, and what is kept of where it came from. */
function planOf({ metadata }: Given | Fetched, { from, certificate }: MetadataImport, before: ProviderValues | undefined): SpImport {
  const { fields, report } = planImport(metadata, before);
  const kept = { ...addressOf(from), ...(certificate === undefined ? {} : { metadata_certificate: certificate }) };
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

type Told = Pick<Imported, 'digest' | 'report'>;
/** `told`: where it is not what was planned before. */
type Done = { readonly ok: true; readonly thing: Thing<typeof kind.fields>; readonly told?: Told } | NotImported;

interface Change {
  readonly known: ServiceProvider;
  readonly reading: Given | Fetched;
  readonly wanted: MetadataImport;
}

/** The document does what it does to the registration as it is by now; if something was shown, just that. */
async function changeKnown(deps: ImportDeps, acting: Acting, { known, reading, wanted }: Change): Promise<Done> {
  const changed = { ok: false, reason: 'changed' } as const;
  let told: Told | undefined;
  try {
    const done = await changeThing(serviceProviders, deps, acting, known.id, (before) => {
      const { fields, report } = planOf(reading, wanted, before);
      const digest = digestOf(wantedOf(kind, fields, before, before).values);
      const isOther = wanted.digest !== undefined && wanted.digest !== digest;
      if (isOther || signerFor(wanted, before as ServiceProvider) !== signerFor(wanted, known)) throw new ChangedMeanwhile();
      told = { digest, report };
      return fields;
    });
    if (done.ok) return { ...done, told: told! }; // it was planned before it was done
    return done.reason === 'unknown' ? changed : done;
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
