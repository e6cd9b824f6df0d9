// The parameter `organization` of authorization requests (design 19): the id or name of an organisation of the tenant. A tenant without
// organisations ignores it. Unknown, foreign and disabled ones are one reason; each endpoint answers it as any unknown thing.
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import { findOrganizationId } from '../../storage/registry/organizations.ts';
import type { RequestParameters } from '../parameters.ts';

const parameter = 'organization';

/** Where an answer has a text. */
export const unknownOrganizationText = 'The organization is unknown.';

type Asked =
  | { readonly ok: true; readonly id: string | undefined }
  | { readonly ok: false; readonly reason: string; readonly received: string };

/**
 * The organisation a request asks for. `sent` are the parameters beside a pushed or signed request, which does not get another
 * organisation by them.
 */
export async function askedOrganization(
  { database }: Parts<'database'>,
  tenant: Tenant,
  parameters: RequestParameters,
  sent: RequestParameters = parameters,
): Promise<Asked> {
  if (!tenant.organizations.exist) return { ok: true, id: undefined };
  const asked = parameters.get(parameter);
  const beside = sent.get(parameter);
  if (beside !== undefined && beside !== asked) return { ok: false, reason: 'organization_differs', received: beside };
  if (asked === undefined) return { ok: true, id: undefined };
  const id = await database.read(tenant.id, (queries) => findOrganizationId(queries, tenant.id, asked));
  return id === undefined ? { ok: false, reason: 'unknown_organization', received: asked } : { ok: true, id };
}
