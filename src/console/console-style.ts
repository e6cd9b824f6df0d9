// The console's own rules on top of the style its pages share with the account page: search, tabs, labels, charts, steps.
import { readStyleFile } from '../platform/style-file.ts';

export const consoleStyle = readStyleFile(new URL('./console-style.css', import.meta.url));
