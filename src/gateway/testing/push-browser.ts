import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';

/**
 * A browser and its push server, written from the standards and not with the library that sends: decrypts messages (RFC 8291,
 * RFC 8188) and checks who signed them (RFC 8292).
 */
export function createPushBrowser(endpoint: string) {
  const ecdh = createECDH('prime256v1');
  const own = ecdh.generateKeys();
  const auth = randomBytes(16);
  return {
    /** As the browser gives it to the page. */
    subscription: { endpoint, keys: { p256dh: own.toString('base64url'), auth: auth.toString('base64url') } },
    /** The text of a message; undefined: it has no content. */
    open(headers: Headers, body: Uint8Array): string | undefined {
      if (body.length === 0) return undefined;
      if (headers.get('content-encoding') !== 'aes128gcm') throw new Error('another encoding');
      const bytes = Buffer.from(body);
      const salt = bytes.subarray(0, 16);
      const idLength = bytes.readUInt8(20);
      const sender = bytes.subarray(21, 21 + idLength);
      const sealed = bytes.subarray(21 + idLength);
      const shared = ecdh.computeSecret(sender);
      const secret = derive([shared, auth, Buffer.concat([Buffer.from('WebPush: info\0'), own, sender])], 32);
      const key = derive([secret, salt, Buffer.from('Content-Encoding: aes128gcm\0')], 16);
      const nonce = derive([secret, salt, Buffer.from('Content-Encoding: nonce\0')], 12);
      const opener = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(sealed.subarray(-16));
      const padded = Buffer.concat([opener.update(sealed.subarray(0, -16)), opener.final()]);
      return padded.subarray(0, padded.lastIndexOf(2)).toString();
    },
  };
}

/** HKDF with SHA-256. */
const derive = ([secret, salt, info]: [Buffer, Buffer, Buffer], length: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, length));

/** The claims of a signature, and the key that made it. Throws if it does not fit. */
export function readVapid(headers: Headers): { key: string; aud: string; sub: string; exp: number } {
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(headers.get('authorization') ?? '') ?? [];
  const [head, claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  const publicKey = createPublicKey({
    format: 'jwk',
    key: {
      ...{ kty: 'EC', crv: 'P-256' },
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    },
  });
  const signed = Buffer.from(`${head}.${claims}`);
  const fits = verify(
    'sha256',
    signed,
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  if (!fits) throw new Error('the signature does not fit');
  return { key, ...JSON.parse(Buffer.from(claims, 'base64url').toString()) };
}
