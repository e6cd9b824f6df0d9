// The console's own rules on top of the style its pages share with the account page: search, tabs, labels, steps.
import { readStyleFile } from '../platform/style-file.ts';

export const consoleStyle = readStyleFile(new URL('./console-style.css', import.meta.url));
/** Of pages that show others in frames. */
export const previewStyle = readStyleFile(new URL('./appearance/previews.css', import.meta.url));
