// Errors of the endpoints a browser visits, as a page for people: same status, same meaning, only when the browser asks for it.
import type { FastifyRequest } from 'fastify';
import type { Answer } from '../contract/envelopes.ts';
import { prefersHtml } from '../http/accept.ts';
import { plainPage } from '../http/plain-page.ts';

const visited = /^\/v1\/idp\/oidc\/(?:authorize|logout)(?:\?|$)/;

/** The page of an answer; undefined where JSON is right. */
export function presentError(answer: Answer, request: FastifyRequest): string | undefined {
  if (!visited.test(request.url) || !prefersHtml(request.headers.accept)) return undefined;
  const { error, error_description: description, message } = answer.body;
  const text = description ?? message ?? 'The application sent a request that cannot be answered. Go back and try again.';
  return plainPage({ title: 'This did not work', text: String(text), code: String(error) });
}
