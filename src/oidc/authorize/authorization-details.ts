// authorization_details (RFC 9396), which no endpoint takes: whoever names details means less than the scopes say, so ignoring
// them would grant more than was meant.
import type { RequestParameters } from '../parameters.ts';
import type { Fault } from '../row-fault.ts';

export const noAuthorizationDetails = ({ parameters }: { readonly parameters: RequestParameters }): Fault | undefined =>
  parameters.get('authorization_details') === undefined
    ? undefined
    : { reason: 'authorization_details', text: 'authorization_details are not supported.' };
