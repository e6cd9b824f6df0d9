// The console's page of mapping rules: those of all applications of one kind, or of one application; a form that adds one; and what the rules
// give one person.
import type { FastifyReply } from 'fastify';
import type { Json } from '../../domain/field.ts';
import { type MappingKind, mappingKinds } from '../../domain/mappings/rule.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { itemsOf, manage, refusalText, showMissing, showPage, type Visit } from '../console-visit.ts';
import { mayPost } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { addForm, addRuleTo, type RulePlace, removeRuleFrom, rulesOf, rulesTable, type Shown, toldAs } from './rule-table.ts';

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

const placeOf = (subject: Subject, whose = subject.target): RulePlace => ({
  kind: subject.kind,
  api: apiPathOf(subject),
  isTable: subject.target === '',
  page: pathOf(subject),
  title: `${titles[subject.kind]} of ${whose}`,
});

/** The rules, the form for one more, and the preview of the person that the query names. */
export async function mappingsPage(visit: Visit, shownBefore: Shown = {}): Promise<FastifyReply> {
  const subject = subjectOf(visit.query);
  const { kind, target } = subject;
  const answer = await manage(visit, 'GET', apiPathOf(subject));
  if (answer.status !== 200) return showMissing(visit, 'Claims & attributes', answer);
  const rules = rulesOf(answer);
  const whose = target === '' ? everyone[kind] : String(answer.body['name'] ?? target);
  const person = kind === 'inbound' ? '' : (visit.query.get('person') ?? '').trim();
  const said = kind === 'inbound' ? (visit.query.get('said') ?? '').trim() : '';
  const mayWrite = mayPost(visit, '/mappings');
  const place = placeOf(subject, whose);
  return showPage(
    visit,
    'Claims & attributes',
    html`${chooser(visit, subject)}
<h2>${place.title}</h2>
${rules.length === 0 ? html`<p class="muted" id="no-rules">No rules yet. ${noRules[kind]}</p>` : rulesTable(visit, place, rules, mayWrite)}
<h2>${kind === 'inbound' ? 'Try them with what a provider says' : 'Try them with one person'}</h2>
${kind === 'inbound' ? saidForm(visit, subject, said) : previewForm(visit, subject, person)}
${(person !== '' || said !== '') && (await preview(visit, subject, { person, said }, new Set(rules.map(({ to }) => to))))}
${mayWrite && addForm(visit, place, shownBefore)}`,
    shownBefore.notice,
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

export const addRule = (visit: Visit, typed: Typed): Promise<FastifyReply> =>
  addRuleTo(visit, placeOf(subjectOf(visit.query)), typed, (shown) => mappingsPage(visit, shown));

export const removeRule = (visit: Visit, typed: Typed): Promise<FastifyReply> =>
  removeRuleFrom(visit, placeOf(subjectOf(visit.query)), typed, (shown) => mappingsPage(visit, shown));
