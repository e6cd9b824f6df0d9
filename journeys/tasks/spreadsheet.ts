// Three hundred people from a spreadsheet in which three lines are wrong: each fault beside its line, nothing lost.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Task } from '../task.ts';
import { hasScripts, markOf, type Walker } from '../walker.ts';

const people = 300;
/** Where the faults are, with what stands there instead. The first line of the file has the heads of the columns. */
const faults = (mark: string): ReadonlyMap<number, string> =>
  new Map([
    [12, `no address ${mark},Grace 12,Hopper,Sailors ${mark}`],
    [120, `${mark}.119@company.example,Grace 120,Hopper,Salors ${mark}`],
    [250, `${mark}.1@company.example,Grace 250,Hopper,Sailors ${mark}`],
  ]);
const lineOf = (mark: string, line: number): string => `${mark}.${line - 1}@company.example,Grace ${line},Hopper,Sailors ${mark}`;

/** Long work goes on by itself; without scripts by a button, as often as the machine takes, which is nothing that a task is judged by. */
async function seesWhenDone({ page, way, sees }: Walker, text: string): Promise<void> {
  const goOn = page.getByRole('button', { name: 'Go on' });
  while (!hasScripts(way)) {
    await goOn.or(page.getByText(text)).first().waitFor();
    if (!(await goOn.isVisible())) break;
    await goOn.click();
    await page.waitForLoadState();
  }
  await sees(text);
}

export const spreadsheetTasks: readonly Task[] = [
  {
    name: 'Invite 300 people from a spreadsheet with three faults',
    clicksMax: 7,
    prepare: async ({ call, folder }, way) => {
      const mark = markOf(way);
      await call('POST', '/groups', { display_name: `Sailors ${mark}` });
      const wrong = faults(mark);
      const lines = Array.from({ length: people }, (_none, index) => wrong.get(index + 2) ?? lineOf(mark, index + 2));
      const path = join(folder, `people-${mark}.csv`);
      writeFileSync(path, ['email,given name,family name,groups', ...lines].join('\r\n'));
      return path;
    },
    walk: async (walker, path) => {
      const { press, attach, reads, type, way } = walker;
      const mark = markOf(way);
      await press(/^People/);
      await press('Invite people');
      await press('From a spreadsheet');
      await attach('A file', path);
      await press('Check the lines');
      await seesWhenDone(walker, '297 lines are ready');
      await reads(/Line 12\s+email: expected an address/);
      await reads(/Line 120\s+.*Salors/);
      await reads(/Line 250\s+Line 2 has the same address/);
      await type('Line 12', lineOf(mark, 12));
      await type('Line 120', lineOf(mark, 120));
      await type('Line 250', '');
      await press('Check these again');
      await seesWhenDone(walker, '299 lines are ready');
      await press('Invite 299 people by mail');
      await seesWhenDone(walker, '299 people were invited.');
    },
  },
];
