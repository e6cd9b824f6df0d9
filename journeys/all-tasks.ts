// Every task of an administrator, in the order they are walked; a file of tasks is one line here.
import type { Task } from './task.ts';
import { applicationTasks } from './tasks/applications.ts';
import { connectionTasks } from './tasks/connections.ts';
import { leavingTasks } from './tasks/leaving.ts';
import { peopleTasks } from './tasks/people.ts';
import { settingTasks } from './tasks/settings.ts';
import { signInTasks } from './tasks/sign-ins.ts';
import { spreadsheetTasks } from './tasks/spreadsheet.ts';

export const allTasks: readonly Task[] = [
  ...applicationTasks,
  ...peopleTasks,
  ...signInTasks,
  ...leavingTasks,
  ...connectionTasks,
  ...settingTasks,
  ...spreadsheetTasks,
];
