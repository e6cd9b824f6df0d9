// Loaded before a server (--import), in each of its threads: appends how many statements its database ran beside those of transactions and how many signatures were made to
// the file NOTED_CALLS names, when it ends.
import crypto from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { StatementSync } from 'node:sqlite';

const counted = { statements: 0, signatures: 0 };

const opensOrCloses = /^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)/;

function counting(of, name, what) {
  const original = of[name];
  Object.defineProperty(of, name, {
    configurable: true,
    writable: true,
    value(...values) {
      if (!opensOrCloses.test(this?.sourceSQL)) counted[what] += 1;
      return Reflect.apply(original, this, values);
    },
  });
}

for (const name of ['all', 'get', 'run', 'iterate']) counting(StatementSync.prototype, name, 'statements');
counting(crypto, 'sign', 'signatures');
syncBuiltinESMExports();
process.once('exit', () => appendFileSync(process.env['NOTED_CALLS'], `${JSON.stringify(counted)}\n`));
