// The refusal of who cannot be let through because a hook of the tenant does not answer (design 16, 3), on pages and for phones.
import type { HookRefusal } from '../approvals/sign-in-hook.ts';
import { type ContractError, reject } from '../contract/contract-error.ts';

/** 503 with Retry-After; what was wrong is for the audit trail alone. */
export const hookFailed = (refusal: HookRefusal): ContractError =>
  reject(
    'management.unavailable',
    { reason: 'hook_failed', received: refusal.text, expected: `hook:${refusal.hook}` },
    { retryAfterSeconds: refusal.reason === 'failed' ? refusal.retryAfterSeconds : 1 },
  );
