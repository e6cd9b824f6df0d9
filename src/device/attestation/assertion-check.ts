// App Attest assertions on signed requests (`X-App-Assertion`): the app instance that was attested made this very request.
// The counter moves forward by compare and set, committed before the answer.
import { reject } from '../../contract/contract-error.ts';
import { decodeBase64 } from '../../crypto/base64.ts';
import { sha256 } from '../../crypto/signed-string.ts';
import { advanceAttestationCounter, type SigningKey } from '../../storage/device/devices.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import type { SignedRequest } from '../signed-call.ts';
import { verifyAppleAssertion } from './apple-appattest.ts';

/** Checks an assertion when one was sent; refuses with contract 7.18 only under enforcement. */
export async function checkAssertion(signed: SignedRequest, key: SigningKey): Promise<void> {
  const { mode } = signed.tenant.settings.attestation;
  if (signed.assertion === undefined || mode === 'off') return;
  const subreason = await findFault(signed, key, signed.assertion);
  if (subreason === undefined) return;
  const { services, tenant } = signed;
  await services.database.write(tenant.id, (queries) =>
    insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: 'attestation.failed',
      requestId: signed.requestId,
      actor: `device:${key.device_id}`,
      target: `device:${key.device_id}`,
      reason: subreason,
      data: { mode },
    }),
  );
  if (mode === 'enforce') throw reject('attestation.failed', subreason);
}

async function findFault(signed: SignedRequest, key: SigningKey, sent: string): Promise<string | undefined> {
  const assertion = decodeBase64(sent);
  const { attestation_app_id: appId, attestation_public_key: publicKey } = key;
  if (assertion === undefined) return 'assertion_not_base64';
  if (appId === null || publicKey === null) return 'device_has_no_app_attest_key';
  const clientDataHash = sha256(signed.signedBytes);
  const outcome = verifyAppleAssertion({ assertion, publicKey: Buffer.from(publicKey, 'base64'), clientDataHash, appId });
  if (!outcome.ok) return outcome.subreason;
  const { services, tenant } = signed;
  const { counter } = outcome.evidence;
  const advanced = await services.database.write(tenant.id, (queries) =>
    advanceAttestationCounter(queries, tenant.id, key.device_id, counter),
  );
  return advanced ? undefined : 'counter_replay';
}
