// `/branding`: how the tenant's pages and mails look, as draft and as published (design 13, 3). The fields are in
// domain/appearance/branding.ts.
import Type from 'typebox';
import {
  type BrandingState,
  discardBrandingDraft,
  loadBranding,
  publishBranding,
  saveBrandingDraft,
  undoBranding,
} from '../../administration/appearance/branding.ts';
import { nullable } from '../../administration/schema-pieces.ts';
import { brandingShape } from '../../domain/appearance/branding.ts';
import type { FieldFault } from '../../domain/field.ts';
import { type Call, conflict, type Endpoint, endpoint, invalidField, type Json, notFound } from '../endpoint.ts';

const branding = Type.Unsafe<Json>(brandingShape);
const answer = Type.Object({ published: branding, draft: nullable(branding), can_undo: Type.Boolean() });
const write = 'branding:write';

export const brandingEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/branding',
    capability: 'branding:read',
    summary: 'Read the branding: what is published, and the draft',
    answer,
    status: 200,
    handle: async ({ services: { database }, tenant }) =>
      toJson(await database.read(tenant.id, (queries) => loadBranding(queries, tenant.id))),
  }),
  endpoint({
    method: 'PUT',
    path: '/branding/draft',
    capability: write,
    summary: 'Write the draft: the whole branding as it is to be; nobody sees it yet',
    body: branding,
    answer,
    status: 200,
    handle: async ({ services, tenant, body, actor, requestId }: Call<undefined, Json>) =>
      settle(await saveBrandingDraft(services, tenant.id, body, { actor, requestId })),
  }),
  endpoint({
    method: 'DELETE',
    path: '/branding/draft',
    capability: write,
    summary: 'Discard the draft',
    answer: undefined,
    status: 204,
    handle: async ({ services, tenant, actor, requestId }) => {
      if (!(await discardBrandingDraft(services, tenant.id, { actor, requestId }))) throw notFound('no_draft');
    },
  }),
  endpoint({
    method: 'POST',
    path: '/branding/publish',
    capability: write,
    summary: 'Publish the draft; every page shows it within a second',
    answer,
    status: 200,
    handle: async ({ services, tenant, actor, requestId }) => settle(await publishBranding(services, tenant.id, { actor, requestId })),
  }),
  endpoint({
    method: 'POST',
    path: '/branding/undo',
    capability: write,
    summary: 'Publish again what was published before',
    answer,
    status: 200,
    handle: async ({ services, tenant, actor, requestId }) => settle(await undoBranding(services, tenant.id, { actor, requestId })),
  }),
];

type Settled =
  | { readonly ok: true; readonly state: BrandingState }
  | { readonly ok: false; readonly reason: 'invalid'; readonly fault: FieldFault }
  | { readonly ok: false; readonly reason: 'no_draft' | 'nothing_before' };

/** @throws management.invalid_request, management.conflict */
function settle(outcome: Settled): Json {
  if (outcome.ok) return toJson(outcome.state);
  if (outcome.reason === 'invalid') throw invalidField(outcome.fault.field, `This field ${outcome.fault.text}.`);
  throw outcome.reason === 'no_draft'
    ? conflict('draft', 'There is no draft to publish.')
    : conflict('previous', 'Nothing was published before.');
}

const toJson = ({ published, draft, canUndo }: BrandingState): Json => ({ published, draft: draft ?? null, can_undo: canUndo });
