// Design 10, section 7: a grant is a line of its table, a file and a line of the registry, which the compiler asks for. Shown on a
// copy of the tree.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { root } from '../support/documents.ts';
import { copyTree, type TreeCopy } from '../support/tree-copy.ts';

const voucher = 'urn:example:grant-type:voucher';
const handler = `// A voucher: the client acts for itself.
import { reject } from '../../contract/contract-error.ts';
import { capabilitiesOf } from '../scopes.ts';
import { grantNotAllowedText, type TokenGrant } from './grant.ts';

export const voucherGrant: TokenGrant = {
  repeatsNonce: false,
  denied: (cause) => reject('token.unauthorized_client', cause, { text: grantNotAllowedText }),
  examine: ({ client, tenant }) => ({
    grant: undefined,
    scopes: capabilitiesOf(client),
    resource: tenant.managementApi,
    refusal: 'client.invalid_client',
    userState: undefined,
    redeem: undefined,
  }),
};
`;

describe('a grant', () => {
  let copy: TreeCopy;
  before(() => {
    copy = copyTree();
  });
  after(() => copy.remove());

  const compile = (): string => {
    const { stdout } = copy.run(
      process.execPath,
      join(root, 'node_modules', '.bin', 'tsc'),
      '--checkers',
      '1',
      '-p',
      'tsconfig.grants.json',
      '--pretty',
      'false',
    );
    return stdout;
  };

  it('is a line of the table, for which the compiler wants a handler, a file and a line of the registry', () => {
    // With src/http, which says what requests carry.
    copy.edit(
      'tsconfig.grants.json',
      () => '{ "extends": "./tsconfig.json", "include": ["src/oidc/grants/handlers.ts", "src/http/**/*.ts"] }',
    );
    copy.edit('src/domain/oidc/grant-types.ts', (text) =>
      text.replace(/(?=^\} as const;)/m, `  '${voucher}': { label: 'Voucher', publicClients: false },\n`),
    );
    assert.match(compile(), /handlers\.ts.*urn:example:grant-type:voucher.* is missing/);
    copy.edit('src/oidc/grants/voucher.ts', () => handler);
    copy.edit('src/oidc/grants/handlers.ts', (text) =>
      text
        .replace(/(?=\nexport const)/, "import { voucherGrant } from './voucher.ts';\n")
        .replace(/(?=^\};)/m, `  '${voucher}': voucherGrant,\n`),
    );
    assert.equal(compile(), '');
    assert.deepEqual(copy.changed(), ['src/domain/oidc/grant-types.ts', 'src/oidc/grants/handlers.ts', 'src/oidc/grants/voucher.ts']);
    copy.node('test/support/check-added-grant.ts');
  });
});
