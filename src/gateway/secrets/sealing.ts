import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** A key with the id under which sealed texts name it. */
export interface SealingKey {
  id: string;
  /** 32 bytes. */
  bytes: Uint8Array;
}

/** Where a sealed text is stored. It can be opened only there. */
export interface SealedPlace {
  table: string;
  row: string;
  column: string;
}

/** A sealed text was altered, or belongs to another place or another key. */
class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The format of sealed texts; another one gets another number. */
const VERSION = 'v1';
const SEALED = /^v1\.([0-9a-f]{12})\.([\w-]+)$/;

/** Encrypts bytes: `v1.<id of the key>.<nonce, ciphertext and tag in base64url>`. */
export function seal(plain: Uint8Array, place: SealedPlace, key: SealingKey): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key.bytes, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(boundTo(place, key));
  const parts = [nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()];
  return [VERSION, key.id, Buffer.concat(parts).toString('base64url')].join('.');
}

/** Decrypts bytes. Throws SealBroken, naming the place. */
export function unseal(sealed: string, place: SealedPlace, key: SealingKey): Buffer {
  const [, keyId, text = ''] = SEALED.exec(sealed) ?? [];
  const broken = (problem: string, cause?: unknown) =>
    new SealBroken(`${place.column} of "${place.row}" in the table ${place.table} ${problem}`, { cause });
  if (keyId === undefined) throw broken('is damaged: it is not an encrypted text');
  if (keyId !== key.id) throw broken(`was encrypted with the key ${keyId} instead of ${key.id}`);
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw broken('is damaged: it is too short');
  const decipher = createDecipheriv(ALGORITHM, key.bytes, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(boundTo(place, key));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch (error) {
    throw broken('is damaged, or was copied from another place', error);
  }
}

const boundTo = ({ table, row, column }: SealedPlace, { id }: SealingKey): Buffer =>
  Buffer.from(JSON.stringify(['headgate', VERSION, id, table, row, column]));
