import { randomBytes } from 'node:crypto';
import { type Notice, warn } from '../../../protocol/notice.ts';
import type { Clock } from '../../clock.ts';
import type { MachineKey, MachineKeyFiles } from '../../home/machine-key.ts';
import type { Log } from '../../log.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { type SealedPlace, type SealingKey, seal, unseal } from './sealing.ts';

/** The store as far as the vault uses it. */
type VaultStore = Pick<Store, 'db' | 'commit' | 'emptyLog'>;

export interface VaultDeps {
  store: VaultStore;
  keys: MachineKeyFiles;
  /** Deletes secrets that cannot be decrypted, instead of refusing to open. */
  discardsLost?: boolean;
  /** The database, for messages. */
  storePath: string;
  clock: Pick<Clock, 'now'>;
  log: Log;
  onNotice?(notice: Notice): void;
}

export interface Keys {
  store: SealingKey;
  createdMs: number;
  machine: MachineKey;
}

const KEY_BYTES = 32;

export const newStoreKey = (): SealingKey => ({
  id: randomBytes(6).toString('hex'),
  bytes: randomBytes(KEY_BYTES),
});

/** Secrets of groups belong to one thing each, such as a tool server. A damaged one concerns only that. */
export const isGrouped = (name: string): boolean => name.includes(':');

export const openSecret = (name: string, sealed: string, key: SealingKey): string =>
  unseal(sealed, secretPlace(name), key).toString('utf8');

/** Undefined: it was altered, or encrypted with another key. That says why: nobody but its owner can mend it. */
export function openText(place: SealedPlace, sealed: string, key: SealingKey): string | undefined {
  try {
    return unseal(sealed, place, key).toString('utf8');
  } catch {
    return undefined;
  }
}

const secretPlace = (name: string): SealedPlace => ({ table: 'secrets', row: name, column: 'sealed' });
const keyPlace = (keyId: string): SealedPlace => ({ table: 'store_keys', row: keyId, column: 'wrapped' });
export const sealText = (name: string, text: string, key: SealingKey) =>
  seal(Buffer.from(text, 'utf8'), secretPlace(name), key);

export function insertKey({ id, bytes }: SealingKey, machine: MachineKey, createdMs: number): Statement {
  const wrapped = seal(bytes, keyPlace(id), machine);
  const row = { key_id: id, machine_id: machine.id, wrapped, created_ms: createdMs };
  return statementOf(build.insertInto('store_keys').values(row), 1);
}

export const wrappingOf = ({ db }: Pick<Store, 'db'>) => db.selectFrom('store_keys').selectAll().executeTakeFirst();

export async function openKeys(deps: VaultDeps, found: readonly MachineKey[]): Promise<Keys> {
  try {
    return (await openStored(deps, found)) ?? (await createKeys(deps, found));
  } catch (error) {
    if (!deps.discardsLost || !(error instanceof SecretsLost)) throw error;
    await discard(deps);
    return createKeys(deps, found);
  }
}

/** The secrets cannot be decrypted. The message says why, and what to do. */
class SecretsLost extends Error {
  override readonly name = 'SecretsLost';
}

/** Undefined: the store has no secrets yet. */
async function openStored({ store, storePath }: VaultDeps, found: readonly MachineKey[]): Promise<Keys | undefined> {
  const row = await wrappingOf(store);
  const rows = await store.db.selectFrom('secrets').select(['name', 'sealed']).execute();
  if (row === undefined && rows.length === 0) return undefined;
  if (row === undefined) throw lost(storePath, 'the key of the store is missing');
  const machine = found.find(({ id }) => id === row.machine_id);
  if (machine === undefined) throw new SecretsLost(toMissing(storePath, row.machine_id, found));
  try {
    const key = { id: row.key_id, bytes: unseal(row.wrapped, keyPlace(row.key_id), machine) };
    for (const { name, sealed } of rows) if (!isGrouped(name)) openSecret(name, sealed, key);
    return { store: key, createdMs: row.created_ms, machine };
  } catch (error) {
    throw lost(storePath, error instanceof Error ? error.message : String(error));
  }
}

const lost = (storePath: string, problem: string) =>
  new SecretsLost(
    `The secrets in ${storePath} cannot be decrypted: ${problem}. Restore the database from a backup. ${DISCARD}`,
  );

const DISCARD =
  'Without one, start once with --new-secrets: everybody has to log in again, and older records of the audit trail cannot be verified. Nothing was changed.';

function toMissing(storePath: string, machineId: string, found: readonly MachineKey[]): string {
  const others = found.map(({ path, id }) => `${path} holds the key ${id}`).join(', and ');
  return `The secrets in ${storePath} are encrypted with the key ${machineId} of this machine, but ${others || 'there is no file headgate-key in the home and no such systemd credential'}. Restore headgate-key from the backup that the database is from. ${DISCARD}`;
}

async function createKeys({ store, keys, clock }: VaultDeps, [first]: readonly MachineKey[]): Promise<Keys> {
  const machine = first ?? (await keys.create());
  const key = newStoreKey();
  const createdMs = clock.now();
  await store.commit({ statements: [insertKey(key, machine, createdMs)], durable: true });
  return { store: key, createdMs, machine };
}

/** Only after an operator asked for it. */
async function discard({ store, log, onNotice }: VaultDeps): Promise<void> {
  const tables = ['secrets', 'store_keys'] as const;
  await store.commit({
    statements: tables.map((table) => statementOf(build.deleteFrom(table))),
    durable: true,
    erases: true,
  });
  log.warn({}, 'secrets that could not be decrypted were discarded');
  onNotice?.(
    warn(
      'secrets_discarded',
      'Secrets that could not be decrypted were replaced by new ones. Everybody has to log in again.',
    ),
  );
}
