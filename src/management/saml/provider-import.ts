// `/service-providers/import` and `/import/address`: a SAML service provider from its metadata (design 06, 15), given or at its address,
// which is kept and read again. A dry run shows what would be registered; its digest says so when it is done. Nothing is fetched before the
// capability, the address itself and the budget of the tenant were judged.
import Type from 'typebox';
import { importFault, importMetadata, type MetadataImport } from '../../administration/saml/sp-importing.ts';
import type { Unread } from '../../administration/saml/sp-reading.ts';
import { serviceProviders } from '../../administration/saml/sp-refresh.ts';
import { unreadWords } from '../../administration/saml/unread-words.ts';
import { samlImportDigestChars, samlMetadataReadsPerMinuteMax } from '../../contract/saml-metadata-limits.ts';
import { shownFields, toJson } from '../../domain/field.ts';
import { thingToJson } from '../../domain/kind.ts';
import { rateLimited, takeFixedRate } from '../../http/budgets/rate-limits.ts';
import { inTurn } from '../../http/long-work.ts';
import { type Call, conflict, type Endpoint, endpoint, invalidField, type Json, withStatus } from '../endpoint.ts';
import { actingOf, answerOf, faultRefusal, refusalOf } from '../kind-endpoints.ts';
import { closed, dateTime, nullable } from '../schemas.ts';
import { besideServiceProvider } from './service-providers.ts';

const { kind } = serviceProviders;
const path = '/service-providers/import';

/** What an import is told besides the metadata: with a document in the query, with an address beside it. */
const besides = {
  entity_id: Type.Optional(Type.String({ description: 'which one of an EntitiesDescriptor' })),
  metadata_certificate: Type.Optional(
    Type.String({ description: 'A certificate or public key as PEM. With it, metadata without its signature is not taken' }),
  ),
  dry_run: Type.Optional(Type.Boolean({ description: 'true: says what would be registered, and registers nothing' })),
  digest: Type.Optional(
    Type.String({
      ...{ minLength: samlImportDigestChars, maxLength: samlImportDigestChars },
      description: 'that of a dry run: nothing else than what it showed is registered',
    }),
  ),
};
const query = closed(besides);
const body = closed({
  metadata_url: Type.String({ description: 'An https address. It is kept, and read again once a day or as often as the metadata says' }),
  ...besides,
});

const answer = Type.Object({
  ...answerOf(serviceProviders, besideServiceProvider).properties,
  id: nullable(Type.String({ description: 'null in a dry run of one that is not registered yet' })),
  created_at: nullable(dateTime),
  updated_at: nullable(dateTime),
  import: Type.Object({
    applied: Type.Array(Type.String(), { description: 'fields that were set' }),
    left_out: Type.Array(Type.Object({ item: Type.String(), reason: Type.String() })),
    warnings: Type.Array(Type.String()),
    digest: Type.String({ description: 'of what is registered, or would be' }),
  }),
});

export const providerImportEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path,
    capability: kind.power.write,
    summary: 'Register or update a service provider from its SAML metadata, or see what that would do',
    takesBytes: true,
    query,
    answer,
    status: 201,
    isLong: true,
    handle: (call) => importDocument(call),
  }),
  endpoint({
    method: 'POST',
    path: `${path}/address`,
    capability: kind.power.write,
    summary: 'Register or update a service provider from the metadata at its address, or see what that would do',
    body,
    answer,
    status: 201,
    handle: (call) => importAddress(call),
  }),
];

type Besides = Type.Static<typeof query>;

async function importDocument(call: Call<Besides, unknown>): Promise<unknown> {
  const { body: document, query: told, pace } = call;
  if (!Buffer.isBuffer(document))
    throw invalidField('metadata', 'Expected SAML metadata as application/samlmetadata+xml, application/xml or text/xml.');
  return imported(call, requireGood({ ...told, from: { document } }), (parse) => parse(pace));
}

async function importAddress(call: Call<undefined, Type.Static<typeof body>>): Promise<unknown> {
  const { services, tenant, isGone, body: told } = call;
  const wanted = requireGood({ ...told, from: { url: told.metadata_url } });
  await countReading(call);
  return imported(call, wanted, (parse) => inTurn(services, { envelope: 'management', tenant: tenant.id, isGone }, parse));
}

type Wanted = Omit<MetadataImport, 'inTurn'>;

/** @throws management.invalid_request for what is wrong before anything is read */
function requireGood({ from, ...told }: Besides & Pick<Wanted, 'from'>): Wanted {
  const { entity_id: entityId, metadata_certificate: certificate, digest, dry_run: isDryRun = false } = told;
  const wanted = { from, entityId, certificate, digest, isDryRun };
  const fault = importFault(wanted);
  if (fault !== undefined) throw faultRefusal(fault);
  return wanted;
}

async function imported(call: Call<unknown, unknown>, wanted: Wanted, turn: MetadataImport['inTurn']): Promise<unknown> {
  const done = await importMetadata(call.services, actingOf(call), { ...wanted, inTurn: turn });
  if (!done.ok) {
    if (done.reason === 'unread') throw unreadRefusal(wanted, done.unread);
    if (done.reason === 'changed') throw conflict('digest', 'url' in wanted.from ? changedAtAddress : changedSince);
    throw refusalOf(kind, done);
  }
  const { thing, known, values, report, digest } = done;
  const json: Json =
    thing === undefined
      ? { id: known?.id ?? null, ...toJson(shownFields(kind.fields), values), created_at: null, updated_at: null }
      : thingToJson(kind, thing);
  const told = { ...json, import: { ...report, digest } };
  return thing !== undefined && known === undefined ? told : withStatus(200, told);
}

const changedAtAddress = 'What is at the address has changed since it was shown. Look at it again.';
const changedSince = 'This is not what was shown: the document is another, or the registration has changed since. Look at it again.';

/** Counts a reading that somebody asks for, whatever it is of. @throws management.rate_limited */
export async function countReading({ services, tenant }: Pick<Call<unknown, unknown>, 'services' | 'tenant'>): Promise<void> {
  const limit = { limit: samlMetadataReadsPerMinuteMax, periodSeconds: 60 };
  const waitSeconds = await takeFixedRate(services.rateLimiter, tenant, 'saml_metadata_reads', 'tenant', limit);
  if (waitSeconds !== undefined) throw rateLimited('management', 'saml_metadata_reads', waitSeconds);
}

/** One text, and one reason in the trail of the tenant, whatever the name of a host is in a network that is not public. */
const notReached =
  'The host of this address is not known, or is not public. Check the spelling. The operator of this server can allow a host of your own network (GATEHOUSE_EGRESS_ALLOW).';
const notReachedFor: readonly string[] = ['refused_address', 'refused_scheme', 'unresolved'];
const aboutTheEntity: readonly string[] = ['several_service_providers', 'entity_not_in_metadata'];

function unreadRefusal({ from }: Wanted, { reason, text, field = 'metadata' }: Unread): Error {
  if ('document' in from)
    return invalidField(field, text ?? unreadWords(reason) ?? 'The signature of the metadata cannot be verified.', reason);
  if (notReachedFor.includes(reason)) return invalidField('metadata_url', notReached, 'not_reached');
  if (aboutTheEntity.includes(reason)) return invalidField('entity_id', text ?? '', reason);
  return invalidField('metadata_url', unreadWords(reason) ?? text ?? 'The metadata at this address could not be used.', reason);
}
