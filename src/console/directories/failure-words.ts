// Why a directory cannot be read, in words, and what somebody can do about it.
import type { DirectoryFailure } from '../../domain/extending/directory-runs.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { told } from './told-text.ts';

type Json = Readonly<Record<string, unknown>>;

const detailCharsMax = 1024;

// biome-ignore format: a reason a line or two
const words: Readonly<Record<DirectoryFailure['reason'], readonly [what: string, cure: string]>> = {
  unreachable: ['The server does not answer at this address.', 'Check the address and the port, and that a firewall lets us through.'],
  timeout: ['The server takes too long to answer.', 'Ask who runs it whether it is busy. A filter that it has an index for is quicker.'],
  not_allowed: ['This address may not be reached from here.',
    'It is private. The operator of this deployment can allow it with GATEHOUSE_EGRESS_ALLOW.'],
  certificate: ['Its certificate does not prove that it is the server at this address.',
    'Use the name that its certificate is for. If your company has its own authority, paste the certificates of the authority.'],
  refused: ['The directory refuses the name or the password that we sign in with.',
    'Check the name, and give the password again. The account may be locked, expired or not allowed to read.'],
  no_entry: ['A place that we read does not exist there.', 'Check where people and groups are below, and that our account may see it.'],
  partial: ['It gave less than there is.',
    'Let our account read as many entries as it needs: the server has a limit on sizes or on time. Nobody ends by what was not read.'],
  malformed: ['Its answers cannot be understood.', 'Check that the address is that of LDAP, and that the port is right.'],
  too_many: ['It has more people than one directory may bring.', 'Choose fewer with the filter, or a place further below.'],
};

const isKnown = (reason: string): reason is DirectoryFailure['reason'] => Object.hasOwn(words, reason);

/** What failed, what to do, and what the server said. */
export function failureNotice({ reason, detail }: Json): Html {
  const name = text(reason);
  const [what, cure] = isKnown(name) ? words[name] : ['The directory cannot be read.', ''];
  return html`<div class="notice bad" id="failure"><p><b>${what}</b> ${cure}</p>${text(detail) !== '' && html`<details><summary>What was said</summary><p>${told(detail, detailCharsMax)}</p></details>`}</div>`;
}
