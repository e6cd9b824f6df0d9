// Loaded before a program (--import): writes down what modules it loads, each by its address and bytes, to the file NOTED_MODULES names, when it ends.
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const loaded = [];
registerHooks({
  load(url, context, nextLoad) {
    const result = nextLoad(url, context);
    loaded.push({ url, bytes: result.source?.length ?? 0 });
    return result;
  },
});
process.once('exit', () => writeFileSync(process.env['NOTED_MODULES'], JSON.stringify(loaded)));
