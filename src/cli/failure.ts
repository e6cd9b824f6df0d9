// How a command fails: its message says what was expected, what was found and what to type (exit 1), or that the call itself
// is wrong (exit 2); 3 is `plan --exit-code` with something to change.

export class CommandFailure extends Error {
  readonly exitCode: 1 | 2 | 3;
  constructor(message: string, exitCode: 1 | 2 | 3 = 1) {
    super(message);
    this.name = 'CommandFailure';
    this.exitCode = exitCode;
  }
}

/** A wrong call: exit code 2. */
export const usage = (message: string): CommandFailure => new CommandFailure(message, 2);

/** A failure for machines: the message whole, and what of it says what was expected, what was found and what to type. */
export function failureJson(message: string): Readonly<Record<string, string>> {
  const parts = /^(?:[^\n]*?: )?expected (?<expected>[^\n]+?), found (?<found>[^\n]+?)(?:\. (?<try>[^\n]+))?$/.exec(message)?.groups;
  return { error: message, ...Object.fromEntries(Object.entries(parts ?? {}).filter(([, value]) => value !== undefined)) };
}
