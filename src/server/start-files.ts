// Reads the files that a start reads, so that `gatehouse config check` refuses what `serve` would. Nothing is kept.
import { linesOfFile } from '../administration/declaration/apply.ts';
import { readDeclarations } from '../administration/declaration/reader.ts';
import type { Config } from '../config.ts';
import { loadAttestationTrust } from '../device/attestation/attestation-trust.ts';
import { readOperatorAccounts } from '../platform/push/senders.ts';

/** @throws ConfigError, or an Error that names the setting or the place in the document. What a document says of the tenant is judged beside its database alone. */
export async function readStartFiles(config: Config): Promise<void> {
  readOperatorAccounts(config);
  loadAttestationTrust(config);
  if (config.apply !== undefined) for await (const _item of readDeclarations(linesOfFile(config.apply)));
}
