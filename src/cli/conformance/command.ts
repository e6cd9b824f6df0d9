// `gatehouse phone conformance`: checks somebody's server by playing a phone (--link), or somebody's SDK by playing the server with faults
// (--driver). Prints a line a rule; exits with 1 when one does not hold.
import type { Command } from 'commander';
import { parseEnrollmentLink } from '../../../sdk/links.ts';
import { CommandFailure, usage } from '../failure.ts';
import { createReport, type Report, summaryLine, verdictLine } from './report.ts';

interface Options {
  readonly link?: string;
  readonly driver?: string;
  readonly only?: string;
  readonly json?: boolean;
}

export function conformanceCommand(phone: Command): void {
  phone
    .command('conformance')
    .description('Check a server (--link) or an SDK (--driver) against the device protocol')
    .option('--link <url>', 'an unused enrolment link of the server, <base_url>/enroll#v=1&t=<token>; its device is revoked at the end')
    .option('--driver <command>', 'a program that drives an SDK by lines of JSON')
    .option('--only <text>', 'with --driver: the rules whose name has this text in it')
    .option('--json', 'print JSON')
    .action(async (options: Options) => {
      const report = createReport((verdict) => {
        if (options.json !== true) process.stdout.write(`${verdictLine(verdict)}\n`);
      });
      await runRules(options, report);
      const { verdicts } = report;
      if (options.json === true) process.stdout.write(`${JSON.stringify({ verdicts })}\n`);
      if (verdicts.some(({ passed }) => !passed)) throw new CommandFailure(summaryLine(verdicts));
      if (options.json !== true) process.stdout.write(`${summaryLine(verdicts)}\n`);
    });
}

async function runRules({ link: text, driver, only = '' }: Options, report: Report): Promise<void> {
  if ((text === undefined) === (driver === undefined)) throw usage('expected --link <url> or --driver <command>, one of them');
  if (driver !== undefined) {
    const { runSdkRules } = await import('./sdk-rules.ts');
    await runSdkRules(driver, report, (rule) => rule.includes(only));
    if (report.verdicts.length === 0) throw usage(`--only: expected a part of a rule’s name, found ${only}`);
    return;
  }
  const link = parseEnrollmentLink(text ?? '');
  if (link === undefined) throw new CommandFailure(`--link: expected <base_url>/enroll#v=1&t=<token>, found ${text}`);
  const { runServerRules } = await import('./server-rules.ts');
  return runServerRules(link, report);
}
