// How two texts compare in a filter: by code points, the byte order of UTF-8 that both databases use.
// Both back ends come here, the evaluator for every value and the SQL compiler for values known without SQL.
import type { ComparisonOperator } from './filter-syntax.ts';

/** Whether a text passes an operator with the wanted text; both already folded where that applies. */
export function textMatches(operator: ComparisonOperator, value: string, wanted: string): boolean {
  switch (operator) {
    case 'co':
      return value.includes(wanted);
    case 'sw':
      return value.startsWith(wanted);
    case 'ew':
      return value.endsWith(wanted);
    default:
      return orderMatches(operator, compareText(value, wanted));
  }
}

/** Whether an order (negative, zero, positive) passes an equality or ordering operator. */
export function orderMatches(operator: ComparisonOperator, order: number): boolean {
  switch (operator) {
    case 'eq':
      return order === 0;
    case 'ne':
      return order !== 0;
    case 'gt':
      return order > 0;
    case 'ge':
      return order >= 0;
    case 'lt':
      return order < 0;
    case 'le':
      return order <= 0;
    default:
      return false;
  }
}

function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return codeUnitRank(left) - codeUnitRank(right);
  }
  return a.length - b.length;
}

/** Moves surrogates above the rest of the basic plane, as their code points are. */
function codeUnitRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
