// Who asks something of a person, and what that is counted by (design 21, 1). Three budgets that never mix: of their own, what proved
// itself to be of this very person or was let in by somebody who may (a known browser, a client, an enrolment); near, an address block;
// far, all address blocks together. Strangers have near and far; who has a budget of its own spends and waits for nothing of theirs.
import type { UserId } from '../domain/ids.ts';

export interface Asker {
  /** Without the person: `near:203.0.113.7`, `known:…`, `client:…`. */
  readonly key: string;
  readonly isStranger: boolean;
}

/** Somebody asks something of a person. */
export interface Asking {
  readonly asker: Asker;
  /** Undefined: of nobody. */
  readonly userId: UserId | undefined;
  readonly requestId: string;
}

/** Nobody's id: the statements run and find nothing. */
export const nobody = 'nobody' as UserId;

/** What storage/sign-in/approvals.ts knows strangers by, too. */
const near = 'near:';

/** Whoever asks from an address block, and showed nothing. */
export const strangerFrom = (addressBlock: string): Asker => ({ key: `${near}${addressBlock}`, isStranger: true });

/** Whoever has a budget of its own. */
export const ownAsker = (key: string): Asker => ({ key, isStranger: false });

/** The budget of its own that asked for something; null: a stranger. */
export const ownBudgetOf = (askedBy: string | null): string | null => (askedBy === null || askedBy.startsWith(near) ? null : askedBy);

/** The address block a stranger asks from. */
export const blockOf = ({ key, isStranger }: Asker): string | null => (isStranger ? key.slice(near.length) : null);
