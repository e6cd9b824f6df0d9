// What lower layers return instead of throwing for expected failures (design 01, "One error").

export type Outcome<Value, Reason extends string> = ({ readonly ok: true } & Value) | { readonly ok: false; readonly reason: Reason };

export const fail = <const Reason extends string>(reason: Reason): { readonly ok: false; readonly reason: Reason } => ({
  ok: false,
  reason,
});
