// `$ref` in filters (eq and pr): an address is compared by the identifier at its end, once it is an address of this tenant.
import { type ElementTest, FilterProblem, type FilterSyntax } from './filter-syntax.ts';

/** The filter with every test of a `$ref` as the test of the `value` beside it. `base` is the tenant's SCIM base address. */
export function withoutReferences(syntax: FilterSyntax, base: string): FilterSyntax {
  switch (syntax.kind) {
    case 'and':
    case 'or':
      return { ...syntax, operands: syntax.operands.map((operand) => withoutReferences(operand, base)) };
    case 'not':
      return { ...syntax, operand: withoutReferences(syntax.operand, base) };
    case 'present':
    case 'compare':
      return withoutReference(syntax, base);
    case 'valuePath': {
      const filter = withoutReferences(syntax.filter, base);
      return syntax.test === undefined ? { ...syntax, filter } : { ...syntax, filter, test: withoutReference(syntax.test, base) };
    }
    default:
      return syntax satisfies never;
  }
}

function withoutReference(syntax: ElementTest, base: string): ElementTest {
  const path = valueBeside(syntax.path);
  if (path === undefined) return syntax;
  if (syntax.kind === 'present') return { ...syntax, path };
  const { operator, value } = syntax;
  if (operator !== 'eq' || typeof value !== 'string') throw new FilterProblem('filter', '$ref compares by eq with an address, or takes pr');
  return { ...syntax, path, value: identifierIn(value, base) };
}

/** The path of `value` where this one names a `$ref`. */
function valueBeside(path: string): string | undefined {
  return /(?:^|\.)\$ref$/i.test(path) ? path.replace(/\$ref$/i, 'value') : undefined;
}

/** What an address of this tenant ends in; of any other, a text no identifier equals. */
function identifierIn(address: string, base: string): string {
  const [, id] = address.startsWith(`${base}/`) ? (/^\/(?:Users|Groups)\/([^/?#]+)$/.exec(address.slice(base.length)) ?? []) : [];
  return id ?? '';
}
