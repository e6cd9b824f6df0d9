// Somebody who has proven who they are says for which of their organisations they sign in (design 19).
import type { FastifyRequest } from 'fastify';
import { identifierCharsMax } from '../contract/limits.ts';
import { badField, readField } from '../http/page-request.ts';
import type { Parts } from '../http/services.ts';
import { setLoginOrganization } from '../storage/sign-in/login-transactions.ts';
import { conflict, type StepAnswer } from './login-step.ts';
import type { LoginNow } from './login-view.ts';

/** One of those shown, by its id or name; whether the person is still in it is asked at the end. */
export async function chooseOrganization(services: Parts<'database'>, request: FastifyRequest, login: LoginNow): Promise<StepAnswer> {
  const wanted = readField(request, 'organization', identifierCharsMax);
  const { tenant, row, state } = login;
  const { user_id: userId } = row;
  if (state !== 'organization' || userId === null) throw conflict(login, 'organization');
  const found = login.organizations.find(({ id, name }) => id === wanted || name === wanted);
  if (found === undefined) throw badField('organization', 'unknown', 'one of the organizations shown');
  const isDone = await services.database.write(tenant.id, (queries) =>
    setLoginOrganization(queries, tenant.id, { id: row.id, userId, organizationId: found.id }),
  );
  if (!isDone) throw conflict(login, 'organization');
  return { state: 'approved' };
}
