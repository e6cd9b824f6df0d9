// A table of rules on a page, a row a rule, the form that adds one, and the changes of both: whoever's the rules are. They are replaced whole:
// the API has one list.
import type { FastifyReply } from 'fastify';
import type { Json } from '../../domain/field.ts';
import type { MappingRule } from '../../domain/mappings/rule.ts';
import type { ApiAnswer } from '../../first-party/app-api.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField, type Notice, table } from '../../first-party/app-page.ts';
import { readFields, renderFields } from '../../first-party/form-field.ts';
import { type Html, html } from '../../platform/html.ts';
import { finish, frameOf, manage, refusalText, refusedField, showMissing, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { placeOf, type RulesOf, ruleFields, ruleOf, sourceOf, stepsOf } from './rule-form.ts';

/** Where rules are. */
export interface RulePlace {
  readonly kind: RulesOf;
  /** In the API. */
  readonly api: string;
  /** True: the table of a kind, which is written whole; else a thing that has rules. */
  readonly isTable: boolean;
  /** The page that shows them, with its query; below it, before the query, stands what takes one out. */
  readonly page: string;
  readonly title: string;
}

/** What the page shows beside the rules: a form that was refused. */
export interface Shown {
  readonly notice?: Notice;
  readonly typed?: Typed;
  readonly fault?: Parameters<typeof renderFields>[3];
}

export const rulesOf = ({ body }: ApiAnswer): readonly MappingRule[] => (body['rules'] ?? body['mappings'] ?? []) as readonly MappingRule[]; // the API's shape
export const toldAs = (kind: RulesOf): string => (kind === 'inbound' || kind === 'directory' ? 'Attribute' : 'Told as');

const lasts: Readonly<Record<RulesOf, string>> = { oidc: 'Where', saml: 'Name', inbound: 'When', scim: 'Name', directory: 'When' };

const actionOf = (visit: Visit, { page }: RulePlace, below: string): string =>
  consolePath(visit.request.tenant, page.replace(/(?=\?)|$/, below));

/** The rules; those who may write take each out. */
export function rulesTable(visit: Visit, place: RulePlace, rules: readonly MappingRule[], mayWrite: boolean): Html {
  const { kind, title } = place;
  const remove = (rule: MappingRule, at: number): Html =>
    html`<form method="post" action="${actionOf(visit, place, '/remove')}">${csrfField(frameOf(visit))}<input type="hidden" name="at" value="${String(at)}"><input type="hidden" name="to" value="${rule.to}"><button class="quiet" aria-label="Remove rule ${String(at + 1)}, ${rule.to}">Remove</button></form>`;
  const rows = rules.map((rule, at) => [
    html`<code class="strong">${rule.to}</code>`,
    sourceOf(rule),
    stepsOf(rule),
    placeOf(rule, kind),
    ...(mayWrite ? [remove(rule, at)] : []),
  ]);
  return table(title, [toldAs(kind), 'From', 'How', lasts[kind], ...(mayWrite ? ['Change'] : [])], rows);
}

/** The form for one more, open once it was refused. */
export const addForm = (visit: Visit, place: RulePlace, { typed, fault }: Shown): Html =>
  html`<details${typed !== undefined && html` open`}><summary>Add a rule</summary>
<form class="card" method="post" action="${actionOf(visit, place, '')}" id="add-rule">${csrfField(frameOf(visit))}${renderFields(ruleFields[place.kind], {}, typed, fault)}<div class="bar end"><button id="add">Add the rule</button></div></form></details>`;

type ShowRules = (shown: Shown) => Promise<FastifyReply>;

/** Adds the rule of the form behind the others. */
export async function addRuleTo(visit: Visit, place: RulePlace, typed: Typed, show: ShowRules): Promise<FastifyReply> {
  const read = readFields(ruleFields[place.kind], typed);
  if (!read.ok) return show({ ...refusedField(read.fault), typed });
  const done = `The rule for ${String(read.json['to'])} was added.`;
  return write(
    visit,
    place,
    (rules) => [...rules, ruleOf(read.json)],
    done,
    (notice) => show({ notice, typed }),
  );
}

/** Takes out the rule of one row, if the row is still what it was. */
export async function removeRuleFrom(visit: Visit, place: RulePlace, typed: Typed, show: ShowRules): Promise<FastifyReply> {
  const at = Number(typed.get('at'));
  const to = typed.get('to') ?? '';
  const kept = (rules: readonly MappingRule[]): readonly MappingRule[] => rules.filter((rule, index) => index !== at || rule.to !== to);
  return write(visit, place, kept, `The rule for ${to} was removed.`, (notice) => show({ notice }));
}

async function write(
  visit: Visit,
  { api, isTable, page }: RulePlace,
  change: (rules: readonly MappingRule[]) => readonly (MappingRule | Json)[],
  done: string,
  refused: (notice: Notice) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const before = await manage(visit, 'GET', api);
  if (before.status !== 200) return showMissing(visit, 'Claims & attributes', before);
  const rules = change(rulesOf(before));
  const answer = isTable ? await manage(visit, 'PUT', api, { rules }) : await manage(visit, 'PATCH', api, { mappings: rules });
  return answer.status === 200 ? finish(visit, page, done) : refused({ kind: 'bad', text: refusalText(answer) });
}
