// What people read of a page, and the names of the API that they should not: one list of both, for every page of the console.
import { eventTypes } from '../../src/contract/events.ts';
import { clientAuthMethods } from '../../src/domain/client/client.ts';
import { grantTypeNames } from '../../src/domain/oidc/grant-types.ts';
import { standardScopes } from '../../src/domain/oidc/standard-scopes.ts';
import { capabilities } from '../../src/domain/people/capabilities.ts';
import { authenticationContexts } from '../../src/domain/sign-in/login-methods.ts';
import { tryChecks } from '../../src/domain/sign-in/sign-in-try.ts';

/** Members and values with an underscore in the schemas of a document of OpenAPI. */
function namesIn(document: unknown, found: Set<string>): Set<string> {
  if (typeof document !== 'object' || document === null) return found;
  const { properties, enum: values } = document as { readonly properties?: unknown; readonly enum?: unknown };
  const here = [
    ...Object.keys(typeof properties === 'object' && properties !== null ? properties : {}),
    ...(Array.isArray(values) ? values : []),
  ];
  for (const name of here) if (typeof name === 'string' && name.includes('_')) found.add(name);
  for (const member of Object.values(document)) namesIn(member, found);
  return found;
}

/** Every name of the API that has words in the console. */
export const rawNames = (openapi: unknown): ReadonlySet<string> =>
  new Set([
    ...namesIn(openapi, new Set()),
    ...capabilities,
    ...[Object.keys(eventTypes), tryChecks, clientAuthMethods, grantTypeNames, standardScopes, Object.keys(authenticationContexts)]
      .flat()
      .filter((name) => /[_:.]/.test(name)),
  ]);

/** What is typed or copied elsewhere as it stands, and what the person typed. */
const asItStands = /<(script|style|pre|textarea|datalist|title|code class="copy")[ >].*?<\/(?:\1|code)>/gs;

/** The texts of a page that are seen or read aloud; without tooltips. `names`: also without what stands in `<code>`. */
export function visibleTexts(page: string, names: 'with names' | 'without names' = 'with names'): readonly string[] {
  const plain = page
    .replaceAll(asItStands, ' ')
    .replaceAll(names === 'without names' ? /<code\b.*?<\/code>/gs : /(?!)/g, ' ')
    .replaceAll(/<[^>]*?\b(?:aria-label|placeholder)="([^"]*)"[^>]*>/g, '\n$1\n')
    .replaceAll(/<\/?(?:span|b|code|a|time|i|em)\b[^>]*>/g, '')
    .replaceAll(/<[^>]+>/g, '\n')
    .replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
  return plain
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

const said = /does not have the expected (?:form|type)|\(emails\)/;

/** The texts that say a name of the API, each with the name. */
export function rawNamesIn(texts: readonly string[], names: ReadonlySet<string>): readonly string[] {
  return texts.flatMap((text) => {
    const found = text.split(/[^\w:.-]+/).map((word) => word.replace(/[.:]+$/, ''));
    const raw = found.filter((word) => names.has(word) || names.has(word.split('.').at(-1)!));
    return [...raw.map((name) => `${name}: ${text}`), ...(said.test(text) ? [text] : [])];
  });
}
