// Errors of the endpoints a browser visits, as a page for people: same status, same meaning, only when the browser asks for it.
// The endpoints that only programs call always answer JSON.
import type { FastifyRequest } from 'fastify';
import type { Answer } from '../contract/envelopes.ts';
import type { Page } from '../http/pages/page.ts';
import { presentErrorPage } from '../http/pages/status-page.ts';

const visited = /^\/v1\/idp\/oidc\/(?:authorize|logout)(?:\?|$)/;

export const presentError = (answer: Answer, request: FastifyRequest): Page | undefined =>
  visited.test(request.url) ? presentErrorPage(answer, request) : undefined;
