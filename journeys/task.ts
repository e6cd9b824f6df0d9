// What somebody does at the pages: by the words on them, in so many clicks at most. `prepare` makes what has to be there.
import type { Administrator } from './administrator.ts';
import type { Walker, Way } from './walker.ts';

export interface Task {
  /** No other has it; pictures are called so. */
  readonly name: string;
  readonly clicksMax: number;
  /** Of somebody nobody knows yet, who starts at the link that `prepare` gives and needs scripts for a passkey. */
  readonly isGuest?: true;
  /** Gives a text that the walk needs, as a person would have it at hand. */
  readonly prepare?: (administrator: Administrator, way: Way) => Promise<string> | string;
  /** Starts at the overview, a guest's at the link. The administrator is there for what others do meanwhile. */
  readonly walk: (walker: Walker, given: string, administrator: Administrator) => Promise<void>;
}
