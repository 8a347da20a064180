import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';

/** The key that a daemon proves itself with to the others. It lives as long as its process, so no file can leak it. */
export interface MachineKey {
  /** Ed25519 (RFC 8032), 43 characters of base64url. The others find it in the database. */
  readonly publicKey: string;
  sign(text: string): string;
}

export function createMachineKey(): MachineKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return {
    publicKey: publicPart(publicKey),
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64url'),
  };
}

/** Whether the owner of the public key has signed the text. False for a malformed key or signature. */
export function isSignedBy(publicKey: string, text: string, signature: string): boolean {
  const key = readPublicKey('Ed25519', publicKey);
  return key !== undefined && verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
}

/** Undefined for a text that is no key of this curve. */
export function readPublicKey(curve: 'Ed25519' | 'X25519', text: string): KeyObject | undefined {
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: curve, x: text }, format: 'jwk' });
  } catch {
    return undefined;
  }
}

export const publicPart = (key: KeyObject): string => key.export({ format: 'jwk' }).x ?? '';
