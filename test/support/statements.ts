// Which statements the embedded database runs while something happens: the work an answer costs, to compare what must cost the same.
import { StatementSync } from 'node:sqlite';

const methods = ['all', 'get', 'run', 'iterate'] as const;

/** The statements that ran during the work, in their order. */
export async function statementsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const seen: string[] = [];
  const { prototype } = StatementSync;
  const originals = methods.map((name) => [name, prototype[name]] as const);
  for (const [name, original] of originals)
    Object.defineProperty(prototype, name, {
      configurable: true,
      writable: true,
      value(this: StatementSync, ...values: readonly never[]) {
        seen.push(this.sourceSQL);
        return Reflect.apply(original, this, values);
      },
    });
  try {
    await work();
  } finally {
    for (const [name, original] of originals)
      Object.defineProperty(prototype, name, { configurable: true, writable: true, value: original });
  }
  return seen;
}
