// CSS in files of their own, read once at load and put into pages as one line. The build copies them beside the compiled code.
import { readFileSync } from 'node:fs';

/** The rules of a .css file without its line breaks. */
export const readStyleFile = (file: URL): string => readFileSync(file, 'utf8').replaceAll('\n', '');
