// Account page on which people write what the tenant lets them say about themselves: its attributes with `edit` person. Without
// such attributes there is no such page.
import type { FastifyReply } from 'fastify';
import { setOwnAttributes } from '../administration/people/own-account.ts';
import type { Json } from '../domain/field.ts';
import { type CustomAttribute, customPath, fromCustomCell, labelOf } from '../domain/people/custom-attributes.ts';
import type { Typed } from '../first-party/app-form.ts';
import { csrfField, type Notice } from '../first-party/app-page.ts';
import { customForm, typedCustom } from '../first-party/custom-form.ts';
import { readFields, renderFields } from '../first-party/form-field.ts';
import { html } from '../platform/html.ts';
import { type AccountVisit, goTo, ownAttributesOf, pathTo, selfOf, showPage } from './account-visit.ts';

const formOf = ({ words }: AccountVisit, attributes: readonly CustomAttribute[]) => {
  const optionLabels = { '': { label: '–' }, true: { label: words.yes }, false: { label: words.no } };
  return customForm(attributes).map((field) => ({ ...field, optionLabels }));
};

export function detailsPage(visit: AccountVisit, typed?: Typed, notice?: Notice): FastifyReply {
  const { request, words, session, user } = visit;
  const attributes = ownAttributesOf(request.tenant);
  if (attributes.length === 0) return goTo(visit, '');
  const values = { custom: fromCustomCell(attributes, user.custom) };
  return showPage(
    visit,
    words.details,
    html`<form class="card" method="post" action="${pathTo(visit, '/details')}">${csrfField(session)}
${renderFields(formOf(visit, attributes), values, typed)}<button id="save">${words.save}</button></form>`,
    notice === undefined ? {} : { notice },
  );
}

export async function changeDetails(visit: AccountVisit, typed: Typed): Promise<FastifyReply> {
  const { services, request, words } = visit;
  const attributes = ownAttributesOf(request.tenant);
  const read = readFields(formOf(visit, attributes), typed);
  const given = read.ok ? typedCustom(attributes, (read.json['custom'] ?? {}) as Json) : {}; // put there by its fields
  const done = await setOwnAttributes(services, selfOf(visit), given);
  if (done.ok) return goTo(visit, '/details', 'doneSaved');
  const named = attributes.find((one) => customPath(one) === done.field);
  const text = { taken: words.detailTaken, invalid: words.badDetail, managed: words.detailManaged }[done.reason];
  return detailsPage(visit, typed, { kind: 'bad', text: named === undefined ? text : `${labelOf(named)}: ${text}` });
}
