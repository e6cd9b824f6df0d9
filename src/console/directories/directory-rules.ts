// What the attributes of a directory's people become here, as a page: its own rules, what is meant of its kind where they say nothing, and the
// form that adds one.
import type { FastifyReply } from 'fastify';
import type { Typed } from '../../first-party/app-form.ts';
import { type Html, html } from '../../platform/html.ts';
import { consoleResource } from '../console-resources.ts';
import { manage, showMissing, showPage, type Visit } from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { sourceOf } from '../mappings/rule-form.ts';
import { addForm, addRuleTo, type RulePlace, removeRuleFrom, rulesOf, rulesTable, type Shown } from '../mappings/rule-table.ts';
import { pathOf, tabBar } from '../resource-pages.ts';
import { attributeName, mayDoAll, presetOf } from './directory-resource.ts';

type Params = Readonly<Record<string, string>>;

function placeOf({ id = '' }: Params): RulePlace {
  const own = pathOf(consoleResource('/directories'), id);
  return { kind: 'directory', api: own, isTable: false, page: `${own}/rules`, title: 'Attributes by rules' };
}

export async function directoryRulesPage(visit: Visit, params: Params, shown: Shown = {}): Promise<FastifyReply> {
  const resource = consoleResource('/directories');
  const place = placeOf(params);
  const directory = await manage(visit, 'GET', place.api);
  if (directory.status !== 200) return showMissing(visit, resource.singular, directory);
  const rules = rulesOf(directory);
  const mayWrite = mayChange(visit, resource.path) && mayDoAll(visit, directory.body);
  const preset = presetOf(directory.body);
  const kept = preset.rules.filter(({ to }) => !rules.some((rule) => rule.to === to));
  return showPage(
    visit,
    resource.titleOf(directory.body),
    html`${tabBar(visit, resource, params['id'] ?? '', '/rules')}
<section class="panel"><h2>Usual for ${preset.label}</h2>${kept.length === 0 ? html`<p>The rules below replace all of it.</p>` : html`<dl>${kept.map((rule) => html`<dt title="${rule.to}">${attributeName(rule.to)}</dt><dd>${sourceOf(rule)}</dd>`)}</dl>`}</section>
<h2>${place.title}</h2>
${rules.length === 0 ? html`<p class="muted" id="no-rules">No rules yet. A rule adds an attribute, or replaces what is usual.</p>` : rulesTable(visit, place, rules, mayWrite)}
<p>${tryLink(visit, `${place.api}/test`)}</p>
${mayWrite && addForm(visit, place, shown)}`,
    shown.notice,
  );
}

const tryLink = (visit: Visit, path: string): Html =>
  html`<a class="button quiet" href="${consolePath(visit.request.tenant, path)}">Try them with ten people</a>`;

export const addDirectoryRule = (visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> =>
  addRuleTo(visit, placeOf(params), typed, (shown) => directoryRulesPage(visit, params, shown));

export const removeDirectoryRule = (visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> =>
  removeRuleFrom(visit, placeOf(params), typed, (shown) => directoryRulesPage(visit, params, shown));
