// What the steps of a sign-in write down of a try, for administrators (storage/sign-in/sign-in-tries.ts).
import type { FastifyRequest } from 'fastify';
import { addressBlock } from '../http/client-address.ts';
import type { Parts } from '../http/services.ts';
import type { Queries } from '../storage/engine/database.ts';
import { type GrownTries, trimTries } from '../storage/sign-in/kept-tries.ts';
import { noteTry, type Tried, type TryLine, type TrySubject } from '../storage/sign-in/sign-in-tries.ts';
import type { LoginNow } from './login-view.ts';

/** Writes a line in the caller's transaction; give what it gives to trimTries after the commit. */
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
  await trimTries(services.database, login.tenant.id, grown);
}
