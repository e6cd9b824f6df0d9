// The code of a waiting sign-in that a phone scans or opens instead of typing the number: it names an approval and the moment
// it stops working, under a key of the tenant. Nothing is stored per code; whoever claims first is written into the approval
// (storage/approvals.ts), once. Made by the sign-in pages, opened by the device plane.
import { createHmac } from 'node:crypto';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { equalText } from '../crypto/secret-hash.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import { loadTenantKey } from '../tokens/tenant-secret.ts';

/** Design 04, Duties. */
export const approvalCodeLifetimeMs = 30_000;

interface CodeDeps {
  readonly cache: ConfigCache;
  readonly encryption: KeyEncryption;
}

interface ApprovalCode {
  readonly approvalId: string;
  /** Epoch milliseconds of the database's clock. */
  readonly expiresAtMs: number;
}

/** The link with a fresh code: the text of the QR code and the app link. The code is in the fragment, so no server logs it. */
export async function makeApprovalLink(deps: CodeDeps, tenant: Tenant, code: ApprovalCode): Promise<string> {
  const named = nameOf(code);
  return `${tenant.baseUrl}/scan#v=1&c=${named}.${macOf(await loadCodeKey(deps, tenant), named)}`;
}

/** What a code names, or undefined for everything this tenant did not make. Whether it still works is asked of the database. */
export async function openApprovalCode(deps: CodeDeps, tenant: Tenant, code: string): Promise<ApprovalCode | undefined> {
  const key = await loadCodeKey(deps, tenant);
  const [, named, approvalId, expiresAt, mac] = codeShape.exec(code) ?? [];
  if (named === undefined || approvalId === undefined || expiresAt === undefined || mac === undefined) return undefined;
  return equalText(macOf(key, named), mac) ? { approvalId, expiresAtMs: Number.parseInt(expiresAt, 36) } : undefined;
}

const codeShape = /^(([\w-]{22})\.([0-9a-z]{8}))\.([\w-]{22})$/;

const loadCodeKey = ({ cache, encryption }: CodeDeps, tenant: Tenant): Promise<Buffer> =>
  loadTenantKey(cache, encryption, tenant.id, 'gatehouse approval code v1');

const nameOf = ({ approvalId, expiresAtMs }: ApprovalCode): string => `${approvalId}.${expiresAtMs.toString(36).padStart(8, '0')}`;

/** 128 bits of HMAC-SHA-256. */
const macOf = (key: Buffer, named: string): string =>
  createHmac('sha256', key).update(named).digest().subarray(0, 16).toString('base64url');
