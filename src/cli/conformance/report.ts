// The result of a conformance run: one line a rule, passed or failed, and how a person or a program reads them.

export interface Verdict {
  readonly rule: string;
  readonly passed: boolean;
  /** Said of what failed. */
  readonly expected?: string;
  readonly found?: string;
}

/** Takes verdicts as they come and says them at the end. */
export interface Report {
  readonly add: (verdict: Verdict) => void;
  readonly verdicts: readonly Verdict[];
}

export function createReport(onVerdict: (verdict: Verdict) => void): Report {
  const verdicts: Verdict[] = [];
  return {
    verdicts,
    add: (verdict) => {
      verdicts.push(verdict);
      onVerdict(verdict);
    },
  };
}

/** A line of the table; failures say what was expected and what was found. */
export function verdictLine({ rule, passed, expected, found }: Verdict): string {
  return passed ? `pass  ${rule}` : `FAIL  ${rule}\n      expected ${expected ?? 'it to hold'}\n      found    ${found ?? 'nothing'}`;
}

export function summaryLine(verdicts: readonly Verdict[]): string {
  const failed = verdicts.filter(({ passed }) => !passed).length;
  return `${verdicts.length - failed} of ${verdicts.length} rules hold${failed === 0 ? '' : `, ${failed} do not`}.`;
}
