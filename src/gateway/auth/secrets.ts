import { webcrypto } from 'node:crypto';
import { basename, join } from 'node:path';
import { Low } from 'lowdb';
import { z } from 'zod';
import { type Notice, warn } from '../../../protocol/notice.ts';
import type { Clock } from '../../clock.ts';
import type { Environment } from '../../environment.ts';
import { DocumentRefused, jsonDocument } from '../../home/json-document.ts';
import { readPrivateFile } from '../../home/private-file.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { AuditHead } from '../audit/audit-head.ts';
import type { AuditMark } from '../audit/signed-end.ts';
import type { Vault } from '../secrets/vault.ts';

/** The fewest bytes of a secret that signs. */
export const MIN_SECRET_BYTES = 32;
/** Holds a signing secret that the operator chose; it wins over the one of the file. */
export const VARIABLE = 'HEADGATE_JWT_SECRET';
const Secret = z
  .string()
  .regex(/^([0-9a-f]{2})+$/)
  .min(2 * MIN_SECRET_BYTES)
  .optional();
/** Other entries of the file are kept. The secrets are of earlier versions, and are moved to the database. */
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
  /** Keeps the secrets encrypted. */
  vault: Pick<Vault, 'find' | 'add'>;
  /** Reports a damaged file to a person. */
  onNotice?(notice: Notice): void;
}

/** The secrets of this machine. */
export interface MachineSecrets {
  /** Signs login sessions (HS256). Imported once, which halves the cost of a check. */
  signingKey: webcrypto.CryptoKey;
  /** Signs the head of the audit trail; in hex. */
  auditSecret: string;
  /** The secret behind `signingKey`, as it is stored or given. */
  loginSecret: string;
  /** The key is new: there was none yet, or it was lost. */
  isAuditSecretNew: boolean;
  /** Remembers the head of the audit trail in a second place. */
  auditMark: AuditMark;
}

/** The name of the secret that signs logins. */
export const LOGIN_SECRET = 'jwt_secret';
const NAMES = [LOGIN_SECRET, 'audit_secret'] as const;

/**
 * Reads the secrets; missing ones are created at the first start, and again if they were lost. Those that an earlier
 * version left in `secrets.json` move to the vault. Throws for secrets that are too short or malformed, and never replaces
 * them.
 */
export async function openSecrets(deps: SecretsDeps): Promise<MachineSecrets> {
  const { environment, ids, log, vault } = deps;
  const given = givenSecret(environment);
  const stored = { jwt_secret: await vault.find(LOGIN_SECRET), audit_secret: await vault.find('audit_secret') };
  const document = openDocument(deps, stored.jwt_secret !== undefined);
  await document.read();
  const { data } = document;
  const inClear = NAMES.filter((name) => data[name] !== undefined);
  const secretOf = (name: keyof typeof stored) => stored[name] ?? data[name] ?? ids.secret(MIN_SECRET_BYTES);
  const secrets = { jwt_secret: secretOf('jwt_secret'), audit_secret: secretOf('audit_secret') };
  const missing = NAMES.filter((name) => stored[name] === undefined).map((name) => [name, secrets[name]]);
  if (missing.length > 0) await vault.add(Object.fromEntries(missing));
  if (inClear.length > 0 || (await hasSecrets(`${pathOf(deps.home)}.bak`))) {
    const kept = new Set<unknown>(Object.values(secrets));
    const others = inClear.filter((name) => !kept.has(data[name]));
    if (others.length > 0) log.warn({}, `${others.join(' and ')} of secrets.json is removed: the database has another`);
    // Twice, because the first time keeps the version with the secrets as `.bak`.
    for (let time = 0; time < 2; time += 1) await document.update(removeSecrets);
  }
  return {
    signingKey: await importKey(given ?? Buffer.from(secrets.jwt_secret, 'hex')),
    auditSecret: secrets.audit_secret,
    loginSecret: given?.toString('utf8') ?? secrets.jwt_secret,
    isAuditSecretNew: stored.audit_secret === undefined && data.audit_secret === undefined,
    auditMark: {
      read: async () => document.data.audit_mark,
      write: (head) =>
        document.update((each) => {
          each.audit_mark = head;
        }),
    },
  };
}

function removeSecrets(data: Secrets): void {
  for (const name of NAMES) delete data[name];
}

const pathOf = (home: string) => join(home, 'secrets.json');

function openDocument({ home, clock, log, onNotice }: SecretsDeps, isKeyThere: boolean): Low<Secrets> {
  const path = pathOf(home);
  const document = jsonDocument<Secrets>({
    path,
    parse: parseSecrets,
    clock,
    log,
    onSetAside(aside) {
      const kept = `${basename(path)} was damaged. It is kept as ${basename(aside)}`;
      onNotice?.(
        isKeyThere
          ? warn('audit_mark_lost', `${kept}; the mark of the audit trail comes from the version before it.`)
          : warn('login_key_lost', `${kept}; logged-in users may have to log in again.`),
      );
    },
  });
  return new Low<Secrets>(document, {});
}

/** Whether an earlier version left secrets in a file. */
async function hasSecrets(file: string): Promise<boolean> {
  const text = await readPrivateFile(file);
  return text !== undefined && NAMES.some((name) => text.includes(`"${name}"`));
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
