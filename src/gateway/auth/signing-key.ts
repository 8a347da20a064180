import { webcrypto } from 'node:crypto';
import { join } from 'node:path';
import { Low } from 'lowdb';
import { z } from 'zod';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { jsonDocument } from '../store/json-document.ts';

const MIN_SECRET_BYTES = 32;
/** Others may keep secrets of this machine in the same file. */
const Secrets = z.looseObject({ jwt_secret: z.string().optional() });
type Secrets = z.infer<typeof Secrets>;

interface SigningKeyDeps {
  home: string;
  ids: Pick<Ids, 'secret'>;
  clock: Clock;
  log: Log;
}

/** The HS256 key that signs login sessions, made at the first start. Imported once: that halves the cost of a check. */
export async function openSigningKey({ home, ids, clock, log }: SigningKeyDeps): Promise<webcrypto.CryptoKey> {
  const path = join(home, 'secrets.json');
  const document = jsonDocument<Secrets>({ path, parse: (value) => Secrets.parse(value), clock, log });
  const secrets = new Low<Secrets>(document, {});
  await secrets.read();
  if (secrets.data.jwt_secret === undefined) {
    await secrets.update((data) => {
      data.jwt_secret = ids.secret(MIN_SECRET_BYTES);
    });
  }
  return importKey(secrets.data.jwt_secret ?? '', path);
}

async function importKey(hex: string, path: string): Promise<webcrypto.CryptoKey> {
  if (!/^([0-9a-f]{2})+$/.test(hex) || hex.length < 2 * MIN_SECRET_BYTES) {
    throw new Error(
      `jwt_secret in ${path} must be at least ${MIN_SECRET_BYTES} bytes as hex; remove it to get a new one`,
    );
  }
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return webcrypto.subtle.importKey('raw', Buffer.from(hex, 'hex'), algorithm, false, ['sign', 'verify']);
}
