// The syntax tree of a SCIM filter or PATCH path as written, before names mean anything (RFC 7644 sections 3.4.2.2, 3.5.2),
// and the one problem type that parsing and resolving raise. filter-parser.ts builds it, filter-resolver.ts gives it meaning.

export const comparisonOperators = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type ComparisonOperator = (typeof comparisonOperators)[number];

export type Literal = string | number | boolean | null;

export type FilterSyntax =
  | { readonly kind: 'and' | 'or'; readonly operands: readonly FilterSyntax[] }
  | { readonly kind: 'not'; readonly operand: FilterSyntax }
  | { readonly kind: 'present'; readonly path: string }
  | {
      readonly kind: 'compare';
      readonly path: string;
      readonly operator: ComparisonOperator;
      readonly value: Literal;
    }
  | {
      readonly kind: 'valuePath';
      readonly path: string;
      readonly filter: FilterSyntax;
      /** A test on a sub-attribute of the selected elements, as in `emails[type eq "work"].value eq "x"`. */
      readonly test: ElementTest | undefined;
    };

/** What follows `emails[...].value`. */
export type ElementTest =
  | { readonly kind: 'present'; readonly path: string }
  | {
      readonly kind: 'compare';
      readonly path: string;
      readonly operator: ComparisonOperator;
      readonly value: Literal;
    };

/** A PATCH path: `name`, `emails[...]` or `emails[...].value`. */
export interface PathSyntax {
  readonly path: string;
  readonly filter: FilterSyntax | undefined;
  readonly subAttribute: string | undefined;
}

/** `value` is a bad date; `unknown` is a name the schema does not have; everything else is `filter`. */
type FilterProblemKind = 'filter' | 'unknown' | 'value';

/** Raised by the parser and the resolver; each caller maps it to its contract row in one place. */
export class FilterProblem extends Error {
  override readonly name = 'FilterProblem';
  readonly kind: FilterProblemKind;
  constructor(kind: FilterProblemKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
