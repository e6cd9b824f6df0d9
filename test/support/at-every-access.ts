// For what one request of a phone, or of a browser that signs in, reads and then writes: another request comes in between, at every place there is.
import type { TestServer } from './server.ts';

interface Trial {
  readonly call: () => Promise<Response>;
  readonly other: () => Promise<unknown>;
}

/**
 * Makes a trial for each access of the database that `call` makes, and does `other` just before that one. Gives what `call` was
 * answered each time.
 */
export async function atEveryAccess(server: TestServer, makeTrial: () => Promise<Trial>): Promise<readonly Response[]> {
  const answers: Response[] = [];
  for (;;) {
    const { call, other } = await makeTrial();
    let isDone = false;
    const once = async (): Promise<void> => {
      isDone = true;
      await other();
    };
    const answer = await beforeAccess(server, answers.length, once, call);
    if (!isDone) return answers;
    answers.push(answer);
  }
}

/** Not of what the server does besides, which may be at any time. */
const isOfSurface = (): boolean => /\/src\/(?:device|sign-in)\//.test(new Error().stack ?? '');

/** Does `call`, and `other` before the access that follows so many. */
async function beforeAccess(server: TestServer, accesses: number, other: () => Promise<void>, call: Trial['call']): Promise<Response> {
  const { database } = server.gatehouse.services;
  const { read, write } = database;
  const restore = (): unknown => Object.assign(database, { read, write });
  let left = accesses;
  const counted =
    (access: typeof read): typeof read =>
    async (tenant, work) => {
      if (!isOfSurface()) return access(tenant, work);
      left -= 1;
      if (left === -1) {
        restore();
        await other();
      }
      return access(tenant, work);
    };
  Object.assign(database, { read: counted(read), write: counted(write) });
  try {
    return await call();
  } finally {
    restore();
  }
}
