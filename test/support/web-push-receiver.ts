// A browser's side of Web Push, written from RFC 8291 and RFC 8188 on node:crypto alone: a subscription, and what opens its messages.
import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';

export interface Receiver {
  /** As PushSubscription.toJSON() gives it. */
  readonly subscription: string;
  readonly open: (body: Buffer) => string;
}

interface ReceiverKeys {
  readonly privateKey: Buffer;
  readonly auth: Buffer;
}

export function createReceiver(endpoint: string, { privateKey, auth }: Partial<ReceiverKeys> = {}): Receiver {
  const ecdh = createECDH('prime256v1');
  if (privateKey === undefined) ecdh.generateKeys();
  else ecdh.setPrivateKey(privateKey);
  const secret = auth ?? randomBytes(16);
  const keys = { p256dh: ecdh.getPublicKey().toString('base64url'), auth: secret.toString('base64url') };
  return {
    subscription: JSON.stringify({ endpoint, expirationTime: null, keys }),
    open: (body) => {
      const keyLength = body.readUInt8(20);
      const [salt, sender, record] = [body.subarray(0, 16), body.subarray(21, 21 + keyLength), body.subarray(21 + keyLength)];
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), sender]);
      const shared = hkdfSync('sha256', ecdh.computeSecret(sender), secret, info, 32);
      const part = (name: string, bytes: number): Buffer =>
        Buffer.from(hkdfSync('sha256', new Uint8Array(shared), salt, `Content-Encoding: ${name}\0`, bytes));
      const decipher = createDecipheriv('aes-128-gcm', part('aes128gcm', 16), part('nonce', 12)).setAuthTag(record.subarray(-16));
      const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
      const end = padded.lastIndexOf(2); // RFC 8188: the last record ends with 2 and zeros
      return padded.subarray(0, end).toString();
    },
  };
}
