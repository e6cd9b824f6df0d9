// A client that is deleted while a request of it is answered: its row was in memory, and what the request would write refers to one that is
// gone. It hears what an unknown client hears, as it would a moment later.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Cause } from '../../contract/contract-error.ts';
import type { Parts } from '../../http/services.ts';
import type { Handler } from '../../http/surface.ts';
import { isForeignKeyViolation } from '../../storage/engine/foreign-key-violation.ts';
import { findClient } from '../../storage/registry/clients/clients.ts';

/** Answers as if the client were unknown. */
type RefuseUnknown<Services> = (services: Services, request: FastifyRequest, reply: FastifyReply, cause: Cause) => Promise<never> | never;

const actorPrefix = 'client:';

/**
 * The handler, whose refused write is answered by `refuse` where the client of the request is no more. Any other refused write, such as for a
 * person who is no more, stays what it is: SQLite names no constraint, so whether the client is there decides.
 */
export function unlessDeleted<Services extends Parts<'database'>>(
  services: Services,
  handler: Handler,
  refuse: RefuseUnknown<Services>,
): Handler {
  return async (request, reply) => {
    try {
      return await handler(request, reply);
    } catch (error) {
      const { tenant, auditActor } = request;
      if (!isForeignKeyViolation(error) || auditActor?.startsWith(actorPrefix) !== true) throw error;
      const clientId = auditActor.slice(actorPrefix.length);
      const client = await services.database.read(tenant.id, (queries) => findClient(queries, tenant.id, clientId));
      if (client !== undefined) throw error;
      return refuse(services, request, reply, { reason: 'deleted_meanwhile', received: clientId });
    }
  };
}
