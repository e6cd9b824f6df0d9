// Long work in one process beside short work: whoever goes through many items lets the event loop turn between them, and in each turn of the
// loop one goes on, so that all of them together are felt no more than one alone.

/** Awaited between two items. */
export type Pace = () => Promise<void>;

/** To be awaited between two items: lets others go on when this work has had the loop for so long. */
export function createPace(msMax: number): Pace {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < msMax) return;
    await nextTurn();
    sinceMs = performance.now();
  };
}

const waiting: (() => void)[] = [];

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  const next = waiting.shift();
  next?.();
  if (waiting.length > 0) setImmediate(goOn);
}

/** So many items are read or judged in one go: on the embedded database a transaction has the loop until it ends. */
const sliceItems = 10;

export function* slicesOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += sliceItems) yield items.slice(at, at + sliceItems);
}
