import { webcrypto } from 'node:crypto';
import { basename, join } from 'node:path';
import { Low } from 'lowdb';
import { z } from 'zod';
import { type Notice, warn } from '../../../protocol/notice.ts';
import type { Clock } from '../../clock.ts';
import { jsonDocument } from '../../home/json-document.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { AuditHead } from '../audit/audit-head.ts';
import type { AuditMark } from '../audit/signed-end.ts';

const MIN_SECRET_BYTES = 32;
/** The file may contain other secrets of this machine. */
const Secret = z
  .string()
  .regex(/^([0-9a-f]{2})+$/)
  .min(2 * MIN_SECRET_BYTES)
  .optional();
const Secrets = z.looseObject({
  jwt_secret: Secret,
  audit_secret: Secret,
  /** A damaged mark is no reason to lose the keys. */
  audit_mark: AuditHead.optional().catch(undefined),
});
type Secrets = z.infer<typeof Secrets>;

interface SecretsDeps {
  home: string;
  ids: Pick<Ids, 'secret'>;
  clock: Clock;
  log: Log;
  /** Reports a damaged file to a person. */
  onNotice?(notice: Notice): void;
}

/** The secrets of this machine. */
export interface MachineSecrets {
  /** Signs login sessions (HS256). Imported once, which halves the cost of a check. */
  signingKey: webcrypto.CryptoKey;
  /** Signs the head of the audit trail; in hex. */
  auditSecret: string;
  /** The key is new: there was no file with secrets, or it was lost. */
  isAuditSecretNew: boolean;
  /** Remembers the head of the audit trail beside its key, so that removing the head is found. */
  auditMark: AuditMark;
}

/** Reads the secrets; missing ones are created at the first start, and again if they were lost. */
export async function openSecrets({ home, ids, clock, log, onNotice }: SecretsDeps): Promise<MachineSecrets> {
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
  const { jwt_secret, audit_secret } = secrets.data;
  if (jwt_secret === undefined || audit_secret === undefined) {
    await secrets.update((data) => {
      data.jwt_secret ??= ids.secret(MIN_SECRET_BYTES);
      data.audit_secret ??= ids.secret(MIN_SECRET_BYTES);
    });
  }
  return {
    signingKey: await importKey(secrets.data.jwt_secret ?? ''),
    auditSecret: secrets.data.audit_secret ?? '',
    isAuditSecretNew: audit_secret === undefined,
    auditMark: {
      read: async () => secrets.data.audit_mark,
      write: (head) =>
        secrets.update((data) => {
          data.audit_mark = head;
        }),
    },
  };
}

function importKey(hex: string): Promise<webcrypto.CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return webcrypto.subtle.importKey('raw', Buffer.from(hex, 'hex'), algorithm, false, ['sign', 'verify']);
}
