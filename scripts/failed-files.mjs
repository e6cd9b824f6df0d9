// A reporter of Node's test runner: the files in which something failed, a line each.
import { relative } from 'node:path';

// biome-ignore lint/style/noDefaultExport: Node takes a reporter by it
export default async function* failedFiles(events) {
  const files = new Set();
  for await (const { type, data } of events) {
    const file = type === 'test:fail' && data.file !== undefined ? relative(process.cwd(), data.file) : undefined;
    if (file === undefined || files.has(file)) continue;
    files.add(file);
    yield `${file}\n`;
  }
}
