// What code-flow.ts asks of flow-driver.ts.

export interface FlowJob {
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  /** Their addresses are emailOf(0) to emailOf(people - 1). */
  readonly people: number;
  readonly connections: number;
  readonly outboxUrl: string;
  readonly operatorToken: string;
  readonly seconds: number;
}

export const emailOf = (index: number): string => `person-${index}@bench.example`;
