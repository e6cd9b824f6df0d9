// The one style sheet of the pages people see: phone width first, light and dark by the system's choice, motion only where
// it is welcome. Colours are variables; contrast of text is at least 4.5:1 in both schemes.
import { readStyleFile } from '../platform/style-file.ts';

export const styleSheet = readStyleFile(new URL('./style-sheet.css', import.meta.url));
