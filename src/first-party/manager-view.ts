// What the console hands to the account page's side for showing an organisation as whoever manages it sees it.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Html } from '../platform/html.ts';

export interface ViewedByManagers {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly organization: string;
  /** Path of the page below the organisation, as on the account page. */
  readonly below: string;
  readonly query: URLSearchParams;
  /** Where these pages are shown, as the browser asks for it. */
  readonly base: string;
  /** The same below the base URL of the tenant. */
  readonly path: string;
  /** What says whose view it is, and leads back. */
  readonly banner: Html;
}
