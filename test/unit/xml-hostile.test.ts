// XML at the size limit that is made to cost is refused.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { samlXmlLimits } from '../../src/contract/limits.ts';
import { readXml } from '../../src/crypto/xml/reader.ts';
import { verifyEnvelopedSignature } from '../../src/crypto/xml/signature.ts';
import { hostileXml } from '../support/hostile-xml.ts';
import { rsaKeys } from '../support/rsa-keys.ts';

suite('hostile XML at 64 KiB is no signed request', () => {
  for (const [what, xml] of hostileXml) {
    test(what, () => {
      const bytes = Buffer.from(xml);
      assert.ok(bytes.length <= samlXmlLimits.bytesMax && bytes.length > samlXmlLimits.bytesMax - 100);
      const reading = readXml(bytes, { limits: samlXmlLimits, comments: 'refused' });
      assert.ok(!reading.ok || !verifyEnvelopedSignature(reading.root, [rsaKeys().publicKey]).ok);
    });
  }
});
