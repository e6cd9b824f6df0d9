// Commits transactions of the embedded database in groups: those that wait at the same moment run one after another, each in
// a savepoint of its own, and share one durable COMMIT, which is what a disk charges for. Used by sqlite.ts only.
// Nobody is answered before that COMMIT: not even a failure, since it may rest on what another of the group wrote.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StorageUnavailable } from '../database.ts';

interface GroupConnection {
  readonly run: (sql: string) => void;
  /** Waits until no other thread of this process writes; gives what ends the turn. */
  readonly takeTurn?: (() => Promise<() => void>) | undefined;
  /** False once SQLite has ended the transaction by itself (disk full, I/O error). */
  readonly isInTransaction: () => boolean;
}

const groupMax = 128;

interface Waiting {
  /** Does the work and gives what to answer once the group is committed. */
  readonly work: () => Promise<() => void>;
  readonly fail: (error: unknown) => void;
}

/** Runs works in arrival order, in groups; a work that throws leaves nothing behind and does not disturb the others. */
export function createGroupCommit(connection: GroupConnection): <T>(work: () => Promise<T>) => Promise<T> {
  let waiting: Waiting[] = [];
  let isRunning = false;
  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      await nextTurn(); // what the present turn of the event loop still brings joins the group
      let endTurn: (() => void) | undefined;
      let fault: unknown;
      try {
        endTurn = await connection.takeTurn?.();
      } catch (error) {
        fault = error;
      }
      const group = waiting.slice(0, groupMax);
      waiting = waiting.slice(groupMax);
      if (fault === undefined) await commitGroup(connection, group).finally(endTurn);
      else for (const { fail } of group) fail(fault);
    }
    isRunning = false;
  };
  return <T>(work: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({
        fail: reject,
        work: async () => {
          const value = await work();
          return () => resolve(value);
        },
      });
      if (isRunning) return;
      isRunning = true;
      void drain();
    });
}

async function commitGroup(connection: GroupConnection, group: readonly Waiting[]): Promise<void> {
  const answers: (() => void)[] = [];
  try {
    connection.run('BEGIN IMMEDIATE');
    for (const member of group) answers.push(await runInSavepoint(connection, member));
    connection.run('COMMIT');
  } catch (error) {
    if (connection.isInTransaction()) connection.run('ROLLBACK');
    for (const { fail } of group) fail(error);
    return;
  }
  for (const answer of answers) answer();
}

async function runInSavepoint(connection: GroupConnection, member: Waiting): Promise<() => void> {
  connection.run('SAVEPOINT member');
  try {
    const answer = await member.work();
    connection.run('RELEASE member');
    return answer;
  } catch (error) {
    if (!connection.isInTransaction()) throw new StorageUnavailable('the embedded database ended the transaction', { cause: error });
    connection.run('ROLLBACK TO member');
    connection.run('RELEASE member');
    return () => member.fail(error);
  }
}
