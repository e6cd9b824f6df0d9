// How a command fails: its message says what was expected, what was found and what to type (exit 1), or that the call itself
// is wrong (exit 2).

export class CommandFailure extends Error {
  readonly exitCode: 1 | 2;
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.name = 'CommandFailure';
    this.exitCode = exitCode;
  }
}

/** A wrong call: exit code 2. */
export const usage = (message: string): CommandFailure => new CommandFailure(message, 2);
