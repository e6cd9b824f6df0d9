// The console's page of mapping rules: those of all applications of one kind, or of one application, a row a rule; a form that adds one;
// and what the rules give one person. Rules are replaced whole: the API has one list.
import type { FastifyReply } from 'fastify';
import type { Json } from '../../domain/field.ts';
import { type MappingKind, type MappingRule, mappingKinds } from '../../domain/mappings/rule.ts';
import type { ApiAnswer } from '../../first-party/app-api.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField, type Notice, table } from '../../first-party/app-page.ts';
import { readFields, renderFields } from '../../first-party/form-field.ts';
import { type Html, html } from '../../platform/html.ts';
import { finish, frameOf, itemsOf, manage, refusalText, refusedField, showMissing, showPage, type Visit } from '../console-visit.ts';
import { mayPost } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { placeOf, ruleFields, ruleOf, sourceOf, stepsOf } from './rule-form.ts';

/** What the page is about: a kind, and the one application of it, if not all. */
interface Subject {
  readonly kind: MappingKind;
  readonly target: string;
}

const titles: Readonly<Record<MappingKind, string>> = {
  oidc: 'Claims',
  saml: 'SAML attributes',
  inbound: 'Attributes of people',
  scim: 'Attributes provisioned by SCIM',
};
const everyone: Readonly<Record<MappingKind, string>> = {
  oidc: 'every application',
  saml: 'every SAML application',
  inbound: 'every other provider',
  scim: 'every connector',
};
const apiPaths: Readonly<Record<MappingKind, string>> = {
  oidc: '/clients',
  saml: '/service-providers',
  inbound: '/identity-providers',
  scim: '/connectors',
};
const lasts: Readonly<Record<MappingKind, string>> = { oidc: 'Where', saml: 'Name', inbound: 'When', scim: 'Name' };
const noRules: Readonly<Record<MappingKind, string>> = {
  oidc: 'Applications get the standard claims of their scopes.',
  saml: 'Each application gets the attributes in its own map.',
  inbound: 'New accounts get names and locale, and what each provider’s map says.',
  scim: 'Applications get names, emails and the attributes of the company.',
};

const subjectOf = (query: URLSearchParams): Subject => ({
  kind: mappingKinds.find((kind) => kind === query.get('kind')) ?? 'oidc',
  target: (query.get('target') ?? '').trim(),
});

const pathOf = ({ kind, target }: Subject): string => `/mappings?${new URLSearchParams({ kind, ...(target === '' ? {} : { target }) })}`;
const apiPathOf = ({ kind, target }: Subject): string =>
  target === '' ? `/mappings/${kind}` : `${apiPaths[kind]}/${encodeURIComponent(target)}`;
const rulesOf = ({ body }: ApiAnswer): readonly MappingRule[] => (body['rules'] ?? body['mappings'] ?? []) as readonly MappingRule[]; // the API's shape

interface Shown {
  readonly notice?: Notice;
  readonly typed?: Typed;
  readonly fault?: Parameters<typeof renderFields>[3];
}

/** The rules, the form for one more, and the preview of the person that the query names. */
export async function mappingsPage(visit: Visit, shownBefore: Shown = {}): Promise<FastifyReply> {
  const subject = subjectOf(visit.query);
  const { kind, target } = subject;
  const answer = await manage(visit, 'GET', apiPathOf(subject));
  if (answer.status !== 200) return showMissing(visit, 'Claims & attributes', answer);
  const rules = rulesOf(answer);
  const { notice, typed, fault } = shownBefore;
  const whose = target === '' ? everyone[kind] : String(answer.body['name'] ?? target);
  const person = kind === 'inbound' ? '' : (visit.query.get('person') ?? '').trim();
  const said = kind === 'inbound' ? (visit.query.get('said') ?? '').trim() : '';
  const action = (below: string): string => consolePath(visit.request.tenant, pathOf(subject).replace('/mappings', `/mappings${below}`));
  const mayWrite = mayPost(visit, '/mappings');
  const rows = rules.map((rule, at) => [
    html`<code class="strong">${rule.to}</code>`,
    sourceOf(rule),
    stepsOf(rule),
    placeOf(rule, kind),
    ...(mayWrite
      ? [
          html`<form method="post" action="${action('/remove')}">${csrfField(frameOf(visit))}<input type="hidden" name="at" value="${String(at)}"><input type="hidden" name="to" value="${rule.to}"><button class="quiet" aria-label="Remove rule ${String(at + 1)}, ${rule.to}">Remove</button></form>`,
        ]
      : []),
  ]);
  return showPage(
    visit,
    'Claims & attributes',
    html`${chooser(visit, subject)}
<h2>${titles[kind]} of ${whose}</h2>
${rows.length === 0 ? html`<p class="muted" id="no-rules">No rules yet. ${noRules[kind]}</p>` : table(`${titles[kind]} of ${whose}`, [toldAs(kind), 'From', 'How', lasts[kind], ...(mayWrite ? ['Change'] : [])], rows)}
<h2>${kind === 'inbound' ? 'Try them with what a provider says' : 'Try them with one person'}</h2>
${kind === 'inbound' ? saidForm(visit, subject, said) : previewForm(visit, subject, person)}
${(person !== '' || said !== '') && (await preview(visit, subject, { person, said }, new Set(rules.map(({ to }) => to))))}
${
  mayWrite &&
  html`<details${typed !== undefined && html` open`}><summary>Add a rule</summary>
<form class="card" method="post" action="${action('')}" id="add-rule">${csrfField(frameOf(visit))}${renderFields(ruleFields[kind], {}, typed, fault)}<div class="bar end"><button id="add">Add the rule</button></div></form></details>`
}`,
    notice,
  );
}

function chooser(visit: Visit, { kind, target }: Subject): Html {
  const option = (one: MappingKind): Html => html`<option value="${one}"${one === kind && html` selected`}>${titles[one]}</option>`;
  return html`<form class="card" method="get" action="${consolePath(visit.request.tenant, '/mappings')}"><div class="field"><label for="kind">What</label><select id="kind" name="kind">${mappingKinds.map(option)}</select></div>
<div class="field"><label for="target">Of one application</label><input type="text" id="target" name="target" autocomplete="off" spellcheck="false" value="${target}" aria-describedby="target-hint"><p class="hint" id="target-hint">Its client ID, or the id of the SAML application or other provider. Empty: the rules of all. Rules of one replace those of all by name.</p></div><div class="bar end"><button class="quiet" id="show">Show</button></div></form>`;
}

function previewForm(visit: Visit, { kind, target }: Subject, person: string): Html {
  return html`<form class="card" method="get" action="${consolePath(visit.request.tenant, '/mappings')}"><input type="hidden" name="kind" value="${kind}"><input type="hidden" name="target" value="${target}">
<div class="field"><label for="person">Person</label><input type="text" id="person" name="person" autocomplete="off" required value="${person}" aria-describedby="person-hint"><p class="hint" id="person-hint">A user name, an email or an id.</p></div><div class="bar end"><button class="quiet" id="try">Try</button></div></form>`;
}

function saidForm(visit: Visit, { kind, target }: Subject, said: string): Html {
  return html`<form class="card" method="get" action="${consolePath(visit.request.tenant, '/mappings')}"><input type="hidden" name="kind" value="${kind}"><input type="hidden" name="target" value="${target}">
<div class="field"><label for="said">Its claims or attributes</label><textarea id="said" name="said" required aria-describedby="said-hint">\n${said}</textarea><p class="hint" id="said-hint">One a line: department = Sales. A name in several lines has several values.</p></div><div class="bar end"><button class="quiet" id="try">Try</button></div></form>`;
}

/** Lines `name = value` as what a provider says. */
function upstreamOf(said: string): Json {
  const pairs = said.split(/\r?\n/).map((line) =>
    line
      .split('=', 1)
      .concat(line.slice(line.indexOf('=') + 1))
      .map((part) => part.trim()),
  );
  const byName = Map.groupBy(
    pairs.filter(([name]) => name !== ''),
    ([name]) => name!,
  );
  return Object.fromEntries([...byName].map(([name, own]) => [name, own.length === 1 ? own[0]![1] : own.map(([, value]) => value)]));
}

const toldAs = (kind: MappingKind): string => (kind === 'inbound' ? 'Attribute' : 'Told as');

/** What the person gives: standard claims without a value are left out. */
async function preview(
  visit: Visit,
  { kind, target }: Subject,
  { person, said }: { readonly person: string; readonly said: string },
  own: ReadonlySet<string>,
): Promise<Html> {
  const found = said === '' ? itemsOf(await manage(visit, 'GET', `/users?search=${encodeURIComponent(person)}&limit=1`))[0] : undefined;
  const whose = said === '' ? { user_id: String(found?.['id'] ?? person) } : { upstream: upstreamOf(said) };
  const answer = await manage(visit, 'POST', '/mappings/preview', { kind, ...whose, ...(target === '' ? {} : { target }) });
  if (answer.status !== 200) return html`<p class="notice bad" role="alert" id="preview-refused">${refusalText(answer)}</p>`;
  const told = itemsOf(answer).filter(
    ({ to, values, dropped }) => (values as readonly unknown[]).length > 0 || dropped !== undefined || own.has(String(to)),
  );
  const rows = told.map(({ to, values, dropped }) => [
    html`<code class="strong">${String(to)}</code>`,
    html`${(values as readonly unknown[]).map((value, at) => html`${at > 0 && ', '}<code>${typeof value === 'object' ? JSON.stringify(value) : String(value)}</code>`)}`,
    html`${((dropped ?? []) as readonly Json[]).map(({ value, reason }, at) => html`${at > 0 && ', '}${value === null ? 'all' : html`<code>${String(value)}</code>`} (${reasons[String(reason)] ?? String(reason)})`)}`,
  ]);
  return table(
    `What ${said === '' ? String(found?.['user_name'] ?? person) : 'the provider'} gives`,
    [toldAs(kind), 'Values', 'Dropped'],
    rows,
  );
}

const reasons: Readonly<Record<string, string>> = {
  when: 'the rule is not for this person',
  equals: 'not one of those listed',
  prefix: 'begins otherwise',
  suffix: 'ends otherwise',
  contains: 'has no such part',
  values: 'not listed',
  template: 'a placeholder has no value',
  empty: 'nothing is left',
  duplicate: 'a second time',
  first: 'not the first',
  too_large: 'more than there is room for',
};

/** Adds the rule of the form behind the others. */
export async function addRule(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const subject = subjectOf(visit.query);
  const read = readFields(ruleFields[subject.kind], typed);
  if (!read.ok) return mappingsPage(visit, { ...refusedField(read.fault), typed });
  return write(visit, subject, (rules) => [...rules, ruleOf(read.json)], `The rule for ${String(read.json['to'])} was added.`, typed);
}

/** Takes out the rule of one row, if the row is still what it was. */
export async function removeRule(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const at = Number(typed.get('at'));
  const to = typed.get('to') ?? '';
  return write(
    visit,
    subjectOf(visit.query),
    (rules) => rules.filter((rule, index) => index !== at || rule.to !== to),
    `The rule for ${to} was removed.`,
  );
}

async function write(
  visit: Visit,
  subject: Subject,
  change: (rules: readonly MappingRule[]) => readonly (MappingRule | Json)[],
  done: string,
  typed?: Typed,
): Promise<FastifyReply> {
  const path = apiPathOf(subject);
  const before = await manage(visit, 'GET', path);
  if (before.status !== 200) return showMissing(visit, 'Claims & attributes', before);
  const rules = change(rulesOf(before));
  const answer =
    subject.target === '' ? await manage(visit, 'PUT', path, { rules }) : await manage(visit, 'PATCH', path, { mappings: rules });
  if (answer.status === 200) return finish(visit, pathOf(subject), done);
  return mappingsPage(visit, { notice: { kind: 'bad', text: refusalText(answer) }, ...(typed !== undefined && { typed }) });
}
