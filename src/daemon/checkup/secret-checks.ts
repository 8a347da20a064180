import { stat } from 'node:fs/promises';
import path from 'node:path';
import { isRecord } from '../../../protocol/is-record.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Environment } from '../../environment.ts';
import { AUDIT_HEAD_FILE, createAuditHeadFile } from '../../gateway/audit/audit-head.ts';
import { chosenSecret, flawOfSecret, MIN_SECRET_BYTES, VARIABLE } from '../../gateway/auth/secrets.ts';
import { machineKeyPath, readMachineKeys } from '../../home/machine-key.ts';
import { isOperatorToken, tokenPath } from '../../home/operator-token.ts';
import { readPrivateFile } from '../../home/private-file.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

interface CheckedHome {
  home: string;
  environment: Environment;
}

interface CheckedSecrets extends CheckedHome {
  /** The database is on a server. */
  hasServer?: boolean;
}

/** Checks that only their owner can read the secrets of this machine, and that they can be used. Never shows them. */
export async function checkSecrets({ home, environment, hasServer = false }: CheckedSecrets): Promise<Finding[]> {
  // Before the first start nothing is missing. A home whose database is PostgreSQL has no file of it, or a former one.
  const signs = [...(hasServer ? [] : ['headgate.db']), AUDIT_HEAD_FILE];
  const modes = await Promise.all(signs.map((file) => modeOf(path.join(home, file))));
  const isUsed = modes.some((mode) => mode !== undefined);
  return [
    await checkToken(tokenPath(home), isUsed),
    await checkMachineKey({ home, environment, isUsed }),
    ...(await checkKeys(path.join(home, 'secrets.json'), { home, environment, isUsed })),
  ];
}

/** Whether it fits the database is checked together with that. */
async function checkMachineKey({ home, environment, isUsed }: CheckedHome & { isUsed: boolean }): Promise<Finding> {
  const name = 'machine key';
  const mend = 'Restore it from the backup that the database is from.';
  try {
    const [key] = await readMachineKeys(home, environment);
    if (key !== undefined) return ok(name, `${key.id} in ${key.path}`);
  } catch (error) {
    return problem(name, wordsOf(error), mend);
  }
  if (!isUsed) return ok(name, 'none yet: the first start creates it');
  const secrets = await readSecret(name, path.join(home, 'secrets.json'));
  const isOlder = 'text' in secrets && toRecord(secrets.text ?? '')?.jwt_secret !== undefined;
  if (isOlder) return ok(name, 'none yet: the next start creates it, and moves the secrets into the database');
  return problem(name, `${machineKeyPath(home)} is missing, so the secrets of the database cannot be decrypted`, mend);
}

async function checkToken(file: string, isUsed: boolean): Promise<Finding> {
  const name = 'token';
  const read = await readSecret(name, file);
  if ('finding' in read) return read.finding;
  const text = read.text?.trim();
  if (text === undefined && !isUsed) return ok(name, 'none yet: the first start creates it');
  if (text === undefined)
    return problem(
      name,
      `${file} is missing, so commands cannot log in`,
      'Restore it from a backup, or restart the daemon, which creates a new one.',
    );
  if (isOperatorToken(text)) return ok(name, 'the operator token can be used');
  return problem(
    name,
    `${file} ${text === '' ? 'is empty' : 'does not hold a token'}`,
    'Restore it from a backup, or remove it and restart the daemon, which creates a new one.',
  );
}

async function checkKeys(file: string, { home, environment, isUsed }: CheckedHome & { isUsed: boolean }) {
  const chosen = checkChosen(environment);
  const read = await readSecret('secrets', file);
  if ('finding' in read) return [read.finding, ...chosen];
  // The start uses the version before a file that is missing or damaged.
  const secrets = read.text === undefined ? ((await readBackup(file)) ?? {}) : toRecord(read.text);
  if (secrets === undefined) return [await toDamage(file), ...chosen];
  const keys: Keys = { file, secrets, isUsed };
  return [...(chosen.length > 0 ? chosen : [checkKey(LOGIN_KEY, keys)]), await checkAuditKey(home, keys)];
}

async function readBackup(file: string): Promise<Record<string, unknown> | undefined> {
  const backup = await readSecret('secrets', `${file}.bak`);
  return 'text' in backup && backup.text !== undefined ? toRecord(backup.text) : undefined;
}

async function toDamage(file: string): Promise<Finding> {
  const text = `${file} is damaged: it must hold one JSON object`;
  if ((await readBackup(file)) !== undefined)
    return warning('secrets', text, `The next start uses ${path.basename(file)}.bak instead.`);
  return problem(
    'secrets',
    text,
    `Restore it from a backup. Otherwise the next start creates new secrets: ${LOGIN_KEY.loss}, and ${AUDIT_KEY.loss}.`,
  );
}

interface Key {
  name: string;
  field: 'jwt_secret' | 'audit_secret';
  use: string;
  /** What a new one costs. */
  loss: string;
}

const LOGIN_KEY: Key = {
  name: 'login key',
  field: 'jwt_secret',
  use: 'signs logins',
  loss: 'all users have to log in again',
};
const AUDIT_KEY: Key = {
  name: 'audit key',
  field: 'audit_secret',
  use: 'signs the audit trail',
  loss: 'older records of the audit trail cannot be verified',
};

interface Keys {
  file: string;
  secrets: Record<string, unknown>;
  isUsed: boolean;
}

function checkKey({ name, field, use, loss }: Key, { file, secrets, isUsed }: Keys): Finding {
  const value = secrets[field];
  if (value === undefined && !isUsed) return ok(name, 'none yet: the first start creates it');
  if (value === undefined) return ok(name, 'is in the database, encrypted');
  const flaw = flawOfSecret(value);
  if (flaw === undefined) return ok(name, `${use}, and is long enough`);
  return problem(
    name,
    `${field} in ${file} ${flaw}; the daemon does not start with it`,
    `Restore it from a backup. Or remove it, and the next start creates a new one; ${loss}.`,
  );
}

async function checkAuditKey(home: string, keys: Keys): Promise<Finding> {
  const finding = checkKey(AUDIT_KEY, keys);
  const secret = keys.secrets.audit_secret;
  if (finding.level !== 'ok' || typeof secret !== 'string') return finding;
  const { name } = AUDIT_KEY;
  const file = path.join(home, AUDIT_HEAD_FILE);
  try {
    if ((await createAuditHeadFile({ path: file, secret }).read()) !== 'invalid') return finding;
  } catch (error) {
    return problem(name, wordsOf(error), PRIVATE);
  }
  return warning(
    name,
    `${file} was not signed with it`,
    'Restore both files from the same backup. headgate audit verify shows which records are affected.',
  );
}

/** Of the login key in the environment, which replaces that of the file; empty if there is none. */
function checkChosen(environment: Environment): Finding[] {
  const { name } = LOGIN_KEY;
  const bytes = chosenSecret(environment)?.length;
  if (bytes === undefined) return [];
  if (bytes >= MIN_SECRET_BYTES) return [ok(name, `comes from ${VARIABLE}, and is long enough`)];
  return [
    problem(
      name,
      `${VARIABLE} has ${bytes} bytes, and needs at least ${MIN_SECRET_BYTES}; the daemon does not start with it`,
      'Set a longer one, such as the output of "openssl rand -hex 32", or unset it.',
    ),
  ];
}

const PRIVATE = 'Make it a regular file that belongs to this user.';

/** No text: there is no such file. */
async function readSecret(name: string, file: string): Promise<{ text: string | undefined } | { finding: Finding }> {
  const mode = await modeOf(file);
  if (mode !== undefined && (mode & 0o077) !== 0) {
    const text = `${file} can be read by other users (mode ${mode.toString(8)})`;
    return { finding: problem(name, text, `chmod 600 '${file}'`) };
  }
  try {
    return { text: await readPrivateFile(file) };
  } catch (error) {
    return { finding: problem(name, wordsOf(error), PRIVATE) };
  }
}

/** Undefined if it does not exist, or its folder cannot be read. */
const modeOf = (file: string): Promise<number | undefined> =>
  stat(file).then(
    ({ mode }) => mode & 0o777,
    () => undefined, // reading it tells why
  );

function toRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined; // not JSON
  }
}
