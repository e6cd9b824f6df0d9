// The routes of the pages that a connector and a directory both have: where it stands and what is done with it, and its links.
import type { Route } from '../../http/surface.ts';
import type { Form, Page } from '../frame/page-routes.ts';
import { type LinksPage, linksPage, resolveLink } from './links-page.ts';
import { actOn, type StatusPage, statusPage } from './status-page.ts';

export interface Ways {
  readonly page: Page;
  readonly form: Form;
}

export function routeProvisioned(route: Route, { page, form }: Ways, status: StatusPage, links: LinksPage): void {
  const own = `${status.path}/:id`;
  route(`${own}/status`, { GET: page((visit, params) => statusPage(visit, status, params)) });
  route(`${own}/status/:act`, { POST: form((visit, typed, params) => actOn(visit, status, typed, params)) });
  route(`${own}/links`, { GET: page((visit, params) => linksPage(visit, links, params)) });
  route(`${own}/links/:link/resolve`, { POST: form((visit, typed, params) => resolveLink(visit, links, typed, params)) });
}
