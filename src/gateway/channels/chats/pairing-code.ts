import { createHash } from 'node:crypto';
import type { Ids } from '../../../ids.ts';

/** 32 signs, none of which looks like another. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const CHARS = 10;

export const PAIRING = {
  /** How long a code can be approved. */
  lifetimeMs: 3_600_000,
  /** How many can wait at once, per channel. */
  pending: 3,
  /** How often a person is told that approval is needed. */
  replyEveryMs: 3_600_000,
} as const;

/** A new code of 50 bits, in two groups of letters. */
export function newPairingCode(ids: Pick<Ids, 'secret'>): string {
  const bytes = Buffer.from(ids.secret(CHARS), 'hex');
  const code = [...bytes].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return `${code.slice(0, CHARS / 2)}-${code.slice(CHARS / 2)}`;
}

/** The digest of a code as people type it: in upper or lower case, with or without the dash. */
export const hashOfCode = (typed: string): string =>
  createHash('sha256')
    .update(typed.replaceAll(/[^0-9a-z]/gi, '').toUpperCase())
    .digest('hex');
