// Waits at random before and after each access to the database, so that parallel requests overtake one another in every order. By
// `npm run test:stress` only: between two accesses of a request lies a moment so short that a whole run meets it once in sixty.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/storage/engine/database.ts';

const waitMsMax = Number(process.env['GATEHOUSE_TEST_SHAKE_MS'] ?? '0');

/** Makes accesses of this database wait at random, on each side up to GATEHOUSE_TEST_SHAKE_MS milliseconds; without the variable it does nothing. */
export function shakeWhereAsked(database: Database): void {
  if (waitMsMax === 0) return;
  const { read, readEach, write, writeClosed, system, systemRead } = database;
  const takesWritesInOrder = database.dialect === 'sqlite'; // as they arrive, which SCIM's bulk rests on
  Object.assign(database, {
    read: shaken(read),
    readEach: shaken(readEach),
    write: shaken(write, takesWritesInOrder),
    writeClosed: shaken(writeClosed, takesWritesInOrder),
    system: shaken(system, takesWritesInOrder),
    systemRead: shaken(systemRead),
  });
}

function shaken<Args extends readonly unknown[], T>(
  access: (...args: Args) => Promise<T>,
  isAtOnce = false,
): (...args: Args) => Promise<T> {
  return async (...args) => {
    if (!isAtOnce) await waitAtRandom();
    try {
      return await access(...args);
    } finally {
      await waitAtRandom();
    }
  };
}

async function waitAtRandom(): Promise<void> {
  if (Math.random() < 0.5) await sleep(Math.random() * waitMsMax);
}
