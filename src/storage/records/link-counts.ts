// How many links there are to what is elsewhere, of connectors and of directories, from a row a state and kind.
interface CountedRow<State> {
  readonly state: State;
  readonly kind: 'user' | 'group';
  readonly count: number;
}

export interface LinkCounts<State extends string> {
  readonly states: Readonly<Record<State, number>>;
  readonly users: number;
  readonly groups: number;
}

/** Sums of rows as the database gives them, whose numbers may be texts. */
export function sumLinks<State extends string, Row extends CountedRow<State>>(states: readonly State[], rows: readonly Row[]) {
  const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const countOf = (holds: (row: Row) => boolean): number => sum((row) => (holds(row) ? Number(row.count) : 0));
  const counts: LinkCounts<State> = {
    states: Object.fromEntries(states.map((state) => [state, countOf((row) => row.state === state)])) as LinkCounts<State>['states'], // every state
    users: countOf(({ kind }) => kind === 'user'),
    groups: countOf(({ kind }) => kind === 'group'),
  };
  return { counts, sum };
}
