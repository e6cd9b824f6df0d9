// Process entry: hands the command line over. bin/gatehouse starts it.
import { run } from './cli/run.ts';

process.exitCode = await run(process.argv.slice(2));
