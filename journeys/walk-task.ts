// One task, walked one way: how many clicks it took, and what was wrong with it.
import type { Browser, Page } from 'playwright-core';
import type { Administrator } from './administrator.ts';
import type { Task } from './task.ts';
import { giveAuthenticator, hasScripts, openWalker, type Way } from './walker.ts';

export interface Walked {
  readonly clicks: number;
  /** In words; nothing when all is well. */
  readonly faults: readonly string[];
}

/** Passkeys are made by scripts. */
export const isWalkedBy = ({ isGuest }: Task, way: Way): boolean => isGuest !== true || hasScripts(way);

/** @param keepPicture is given the last page of the task, whatever became of it */
export async function walkTask(
  browser: Browser,
  administrator: Administrator,
  task: Task,
  way: Way,
  keepPicture: (page: Page) => Promise<void>,
): Promise<Walked> {
  const isGuest = task.isGuest === true;
  const { origin, signedIn, paints } = administrator;
  const walker = await openWalker(browser, way, isGuest ? { origin, paints } : { origin, signedIn: signedIn(), paints });
  const faults: string[] = [];
  try {
    const given = (await task.prepare?.(administrator, way)) ?? '';
    if (isGuest) await giveAuthenticator(walker.page);
    await walker.goto(isGuest ? given : administrator.console);
    await task.walk(walker, given, administrator);
    await walker.look();
  } catch (error) {
    faults.push(`at ${walker.page.url()}: ${(error as Error).message.replaceAll(/\s+/g, ' ')}`);
  }
  const clicks = walker.clicks();
  if (clicks > task.clicksMax) faults.push(`takes ${clicks} clicks, of ${task.clicksMax} at most`);
  await keepPicture(walker.page);
  if (!isGuest) administrator.keepSignedIn(await walker.page.context().storageState());
  await walker.close();
  return { clicks, faults: [...faults, ...walker.faults()] };
}
