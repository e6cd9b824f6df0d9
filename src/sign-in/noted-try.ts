// What the steps of a sign-in write down of a try, for administrators (storage/sign-in/sign-in-tries.ts).
import type { FastifyRequest } from 'fastify';
import type { TenantId } from '../domain/ids.ts';
import { addressBlock } from '../http/client-address.ts';
import type { Parts } from '../http/services.ts';
import type { Queries } from '../storage/engine/database.ts';
import { type GrownTries, noteTry, type Tried, type TryLine, type TrySubject, trimTries } from '../storage/sign-in/sign-in-tries.ts';
import type { LoginNow } from './login-view.ts';

/** Writes a line in the caller's transaction; give what it gives to keepBounds after the commit. */
export function note(
  queries: Queries,
  request: FastifyRequest,
  { tenant, row }: Pick<LoginNow, 'tenant'> & { readonly row: Tried['login'] },
  line: Omit<TryLine, 'requestId'>,
  subject?: TrySubject,
): Promise<GrownTries | undefined> {
  const tried = { login: row, addressBlock: addressBlock(request.clientAddress) };
  return noteTry(queries, tenant.id, tried, { ...line, requestId: request.id }, subject);
}

/** The same in a transaction of its own. */
export async function noteAlone(
  services: Parts<'database'>,
  request: FastifyRequest,
  login: LoginNow,
  line: Omit<TryLine, 'requestId'>,
  subject?: TrySubject,
): Promise<void> {
  const grown = await services.database.write(login.tenant.id, (queries) => note(queries, request, login, line, subject));
  await keepBounds(services, login.tenant.id, grown);
}

/** Drops the oldest tries where there is one more than is kept. */
export async function keepBounds({ database }: Parts<'database'>, tenant: TenantId, grown: GrownTries | undefined): Promise<void> {
  if (grown !== undefined) await database.write(tenant, (queries) => trimTries(queries, tenant, grown));
}
