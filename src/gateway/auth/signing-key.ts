import { webcrypto } from 'node:crypto';
import { basename, join } from 'node:path';
import { Low } from 'lowdb';
import { z } from 'zod';
import { type Notice, warn } from '../../../protocol/notice.ts';
import type { Clock } from '../../clock.ts';
import { jsonDocument } from '../../home/json-document.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';

const MIN_SECRET_BYTES = 32;
/** The file may contain other secrets of this machine. */
const Secrets = z.looseObject({
  jwt_secret: z
    .string()
    .regex(/^([0-9a-f]{2})+$/)
    .min(2 * MIN_SECRET_BYTES)
    .optional(),
});
type Secrets = z.infer<typeof Secrets>;

interface SigningKeyDeps {
  home: string;
  ids: Pick<Ids, 'secret'>;
  clock: Clock;
  log: Log;
  /** Reports a damaged file to a person. */
  onNotice?(notice: Notice): void;
}

/**
 * The HS256 key that signs login sessions. Created at the first start, and again if it was lost. Imported once, which
 * halves the cost of a check.
 */
export async function openSigningKey({
  home,
  ids,
  clock,
  log,
  onNotice,
}: SigningKeyDeps): Promise<webcrypto.CryptoKey> {
  const path = join(home, 'secrets.json');
  const document = jsonDocument<Secrets>({
    path,
    parse: (value) => Secrets.parse(value),
    clock,
    log,
    onSetAside: (aside) =>
      onNotice?.(
        warn(
          'login_key_lost',
          `${basename(path)} was damaged. It is kept as ${basename(aside)}; logged-in users may have to log in again.`,
        ),
      ),
  });
  const secrets = new Low<Secrets>(document, {});
  await secrets.read();
  if (secrets.data.jwt_secret === undefined) {
    await secrets.update((data) => {
      data.jwt_secret = ids.secret(MIN_SECRET_BYTES);
    });
  }
  return importKey(secrets.data.jwt_secret ?? '');
}

function importKey(hex: string): Promise<webcrypto.CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return webcrypto.subtle.importKey('raw', Buffer.from(hex, 'hex'), algorithm, false, ['sign', 'verify']);
}
