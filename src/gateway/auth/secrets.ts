import { webcrypto } from 'node:crypto';
import { basename, join } from 'node:path';
import { Low } from 'lowdb';
import { z } from 'zod';
import { type Notice, warn } from '../../../protocol/notice.ts';
import type { Clock } from '../../clock.ts';
import type { Environment } from '../../environment.ts';
import { DocumentRefused, jsonDocument } from '../../home/json-document.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { AuditHead } from '../audit/audit-head.ts';
import type { AuditMark } from '../audit/signed-end.ts';

/** The fewest bytes of a secret that signs. */
export const MIN_SECRET_BYTES = 32;
/** Holds a signing secret that the operator chose; it wins over the one of the file. */
export const VARIABLE = 'HEADGATE_JWT_SECRET';
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
  environment: Environment;
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

/**
 * Reads the secrets; missing ones are created at the first start, and again if they were lost. Throws for secrets that are
 * too short or malformed, and never replaces them.
 */
export async function openSecrets({
  home,
  environment,
  ids,
  clock,
  log,
  onNotice,
}: SecretsDeps): Promise<MachineSecrets> {
  const path = join(home, 'secrets.json');
  const given = givenSecret(environment);
  const document = jsonDocument<Secrets>({
    path,
    parse: parseSecrets,
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
    signingKey: await importKey(given ?? Buffer.from(secrets.data.jwt_secret ?? '', 'hex')),
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

/** The secret of the variable; undefined if it is not set. An empty variable counts as unset, like others. */
export function chosenSecret(environment: Environment): Buffer<ArrayBuffer> | undefined {
  const text = environment[VARIABLE];
  return text === undefined || text === '' ? undefined : Buffer.from(text, 'utf8');
}

function givenSecret(environment: Environment): Buffer<ArrayBuffer> | undefined {
  const secret = chosenSecret(environment);
  if (secret === undefined || secret.length >= MIN_SECRET_BYTES) return secret;
  throw new Error(
    `${VARIABLE} is too short: it has ${secret.length} bytes, and a signing secret needs at least ${MIN_SECRET_BYTES}. Set a longer one, such as the output of "openssl rand -hex 32", or unset it.`,
  );
}

/** What is wrong with a secret of the file, without the secret; undefined: nothing. */
export function flawOfSecret(value: unknown): string | undefined {
  if (Secret.safeParse(value).success) return undefined;
  if (typeof value !== 'string' || !/^([0-9a-f]{2})*$/.test(value))
    return 'is not written in pairs of hexadecimal digits in lower case';
  return `has ${value.length / 2} bytes, and needs at least ${MIN_SECRET_BYTES}`;
}

/** Names the keys, never their values. */
function parseSecrets(value: unknown, path: string): Secrets {
  const parsed = Secrets.safeParse(value);
  if (parsed.success) return parsed.data;
  const keys = [...new Set(parsed.error.issues.flatMap(({ path: [key] }) => (key === undefined ? [] : [String(key)])))];
  const problem =
    keys.length === 0
      ? 'it must hold one JSON object'
      : `${keys.join(' and ')} must be at least ${2 * MIN_SECRET_BYTES} hexadecimal digits (${MIN_SECRET_BYTES} bytes), in lower case and in pairs`;
  throw new DocumentRefused(
    `${path} cannot be used: ${problem}. Correct it, or remove what is wrong to get new secrets. The file was not changed.`,
  );
}

function importKey(secret: Buffer<ArrayBuffer>): Promise<webcrypto.CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return webcrypto.subtle.importKey('raw', secret, algorithm, false, ['sign', 'verify']);
}
