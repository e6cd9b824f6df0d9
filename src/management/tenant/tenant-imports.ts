// The system API's imports: a whole tenant comes from another group in sealed parts, and is open when its sender says so. Called by
// `gatehouse tenant move`.
import { Readable } from 'node:stream';
import Type from 'typebox';
import { BundleFault, openBundle } from '../../administration/moving/bundle.ts';
import {
  beginImport,
  giveUpImport,
  type ImportProgress,
  importPart,
  openImported,
  progressOf,
} from '../../administration/moving/import-in-parts.ts';
import { importKeyOf } from '../../crypto/bundle-seal.ts';
import { loadMasterKey } from '../../crypto/master-key.ts';
import type { Parts } from '../../http/services.ts';
import { isUniqueViolation } from '../../storage/engine/unique-violation.ts';
import { type Call, conflict, type Endpoint, endpoint, invalidField } from '../endpoint.ts';
import { closed, nullable, oneOf } from '../schemas.ts';

const progress = Type.Object({ state: oneOf(['running', 'imported', 'given_up', 'unknown']), next_part: nullable(Type.Integer()) });
/** What randomId makes. */
const bundlePattern = '^[A-Za-z0-9_-]{22}$';
const bundleId = new RegExp(bundlePattern);
const uuidPattern = '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
const head = closed({
  id: Type.String({ pattern: bundlePattern }),
  created: Type.String(),
  release: Type.String(),
  migrations: Type.Array(Type.Integer()),
  tenant_id: Type.String({ pattern: uuidPattern }),
  slug: Type.String(),
  domain: nullable(Type.String()),
  base_url: Type.String(),
});

export const tenantImportEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/tenant-imports',
    capability: 'tenants:write',
    summary: 'Read the public key that the parts of tenants that come here are sealed to',
    answer: Type.Object({ import_key: Type.String() }),
    status: 200,
    handle: async ({ services }) => ({ import_key: ownKey(services).text }),
  }),
  endpoint({
    method: 'POST',
    path: '/tenant-imports',
    capability: 'tenants:write',
    summary: 'Begin to import a tenant of another group; refused if it cannot come here',
    body: head,
    answer: progress,
    status: 201,
    handle: ({ services, body }) => refusing(() => beginImport(services, body)),
  }),
  endpoint({
    method: 'GET',
    path: '/tenant-imports/:id',
    capability: 'tenants:read',
    summary: 'Read how far an import is',
    answer: progress,
    status: 200,
    handle: ({ services, params }) => progressOf(services, idOf(params)),
  }),
  endpoint({
    method: 'PUT',
    path: '/tenant-imports/:id/parts/:part',
    capability: 'tenants:write',
    summary: 'Import the next part, sealed; a part that comes twice is imported once',
    takesBytes: true,
    answer: progress,
    status: 200,
    handle: (call) => refusing(() => takePart(call)),
  }),
  endpoint({
    method: 'POST',
    path: '/tenant-imports/:id/open',
    capability: 'tenants:write',
    summary: 'Serve the tenant, if this many rows have come',
    body: closed({ rows: Type.Integer() }),
    answer: progress,
    status: 200,
    handle: ({ services, params, body, actor, requestId }) =>
      refusing(() => openImported(services, idOf(params), body.rows, { actor, requestId })),
  }),
  endpoint({
    method: 'DELETE',
    path: '/tenant-imports/:id',
    capability: 'tenants:write',
    summary: 'Give an import up, unless the tenant is served already; the answer says which',
    answer: progress,
    status: 200,
    handle: ({ services, params }) => refusing(() => giveUpImport(services, idOf(params))),
  }),
];

const ownKey = ({ config }: Parts<'config'>): ReturnType<typeof importKeyOf> =>
  importKeyOf(loadMasterKey(config.masterKey, config.dataFolder, false));

function idOf(params: Call<unknown, unknown>['params']): string {
  const id = params['id']!;
  if (!bundleId.test(id)) throw invalidField('id', 'This must be the id of a bundle.');
  return id;
}

async function takePart({ services, params, body }: Call<unknown, unknown>): Promise<ImportProgress> {
  const part = Number(params['part']);
  if (!Number.isSafeInteger(part) || part < 0) throw invalidField('part', 'This must be the number of a part.');
  if (!Buffer.isBuffer(body)) throw invalidField('part', 'This must be a sealed part, as application/octet-stream.');
  return importPart(services, { bundle: idOf(params), part }, openBundle(Readable.from([body]), ownKey(services)));
}

/** Why a bundle is refused, as a conflict that says it. */
async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BundleFault) throw conflict('bundle', error.message);
    if (isUniqueViolation(error)) throw conflict('bundle', 'expected a free tenant id, slug and domain, found one taken meanwhile');
    throw error;
  }
}
