import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

/*
 * Messages between two daemons, encrypted with the secret of their greeting (AES-256-GCM). Each direction has its own key and
 * counts its messages, so that none can be repeated, left out or sent back.
 */

/** Which end this is: the one that greeted, or the one that answered. */
export type End = 'asked' | 'answered';

export interface Seal {
  /** The next message, with its number. */
  close(text: Uint8Array): Buffer;
  /** Throws if the message is not the next one of the other daemon. */
  open(sealed: Uint8Array): Buffer;
}

const TAG_BYTES = 16;
const NUMBER_BYTES = 8;

export function createSeal(secret: Buffer, own: End): Seal {
  const other = own === 'asked' ? 'answered' : 'asked';
  const closing = { key: keyOf(secret, own), number: 0n };
  const opening = { key: keyOf(secret, other), number: 0n };
  return {
    close(text) {
      closing.number += 1n;
      const number = bytesOf(closing.number);
      const cipher = createCipheriv('aes-256-gcm', closing.key, nonceOf(number));
      return Buffer.concat([number, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed) {
      const number = sealed.subarray(0, NUMBER_BYTES);
      const end = sealed.length - TAG_BYTES;
      if (end < NUMBER_BYTES || !bytesOf(opening.number + 1n).equals(number)) throw new Error('a message is missing');
      const decipher = createDecipheriv('aes-256-gcm', opening.key, nonceOf(number));
      decipher.setAuthTag(sealed.subarray(end));
      const text = Buffer.concat([decipher.update(sealed.subarray(NUMBER_BYTES, end)), decipher.final()]);
      opening.number += 1n;
      return text;
    },
  };
}

const keyOf = (secret: Buffer, end: End): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `headgate link of ${end} 1`, 32));

function bytesOf(number: bigint): Buffer {
  const bytes = Buffer.alloc(NUMBER_BYTES);
  bytes.writeBigUInt64BE(number);
  return bytes;
}

const nonceOf = (number: Uint8Array): Buffer => Buffer.concat([Buffer.alloc(4), number]);
