import { randomBytes } from 'node:crypto';
import { type Notice, warn } from '../../../protocol/notice.ts';
import type { Clock } from '../../clock.ts';
import type { MachineKey, MachineKeyFiles } from '../../home/machine-key.ts';
import type { Log } from '../../log.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { lost, SecretsLost, toMissing } from './lost-secrets.ts';
import { sealedRows } from './sealed-rows.ts';
import { type SealedPlace, type SealingKey, seal, unseal } from './sealing.ts';

/** The store as far as the vault uses it. */
type VaultStore = Pick<Store, 'db' | 'commit' | 'emptyLog'>;

interface VaultDeps {
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

/** The keys in use, and the names of the secrets that they protect. */
interface VaultStatus {
  storeKeyId: string;
  machineKeyId: string;
  /** The file of the machine's key. */
  machineKeyPath: string;
  /** Whether systemd provides the machine's key, so that only an operator can replace it. */
  isCredential: boolean;
  createdAtMs: number;
  names: string[];
}

interface Keys {
  store: SealingKey;
  createdMs: number;
  machine: MachineKey;
}

/**
 * The secrets in the database, encrypted with a key of the store, which is encrypted with a key of this machine (decision
 * 80). Open it with `Vault.open`.
 */
export class Vault {
  readonly #deps: VaultDeps;
  #keys: Keys;
  /** Nothing is encrypted with a key that is replaced meanwhile. */
  readonly #serially = createSerialKeys();

  private constructor(deps: VaultDeps, keys: Keys) {
    this.#deps = deps;
    this.#keys = keys;
  }

  /**
   * Makes the keys at the first start, and finishes a rotation that was interrupted. Throws, without changing anything, if
   * the machine's key is missing or another one, or if a secret is damaged.
   */
  static async open(deps: VaultDeps): Promise<Vault> {
    const found = await deps.keys.read();
    const keys = await openKeys(deps, found);
    const vault = new Vault(deps, keys);
    await vault.#settle(found);
    return vault;
  }

  /** Undefined if there is none. */
  async find(name: string): Promise<string | undefined> {
    const { db } = this.#deps.store;
    const row = await db.selectFrom('secrets').select('sealed').where('name', '=', name).executeTakeFirst();
    return row && unseal(row.sealed, secretPlace(name), this.#keys.store).toString('utf8');
  }

  /** Stores new secrets durably. Refused if one of them exists. */
  async add(values: Readonly<Record<string, string>>): Promise<void> {
    const { store, clock } = this.#deps;
    const rows = Object.entries(values).map(([name, value]) => ({
      name,
      sealed: sealText(name, value, this.#keys.store),
      created_ms: clock.now(),
    }));
    await store.commit({
      statements: [statementOf(build.insertInto('secrets').values(rows), rows.length)],
      durable: true,
    });
  }

  /** Stores encrypted texts in other tables. `make` builds the statements; it may run later, after a change of the keys. */
  commitSealed(
    make: (seal: SealText) => readonly Statement[],
    { erases = false }: { erases?: boolean } = {},
  ): Promise<void> {
    return this.#serially.run(WRITES, async () => {
      const sealIn: SealText = (place, text) => seal(Buffer.from(text, 'utf8'), place, this.#keys.store);
      await this.#deps.store.commit({ statements: make(sealIn), durable: true, erases });
    });
  }

  /** Reads such a text. Undefined: it was altered, or encrypted with a key that nobody has any more. */
  open(place: SealedPlace, sealed: string): string | undefined {
    return opened(place, sealed, this.#keys.store);
  }

  async status(): Promise<VaultStatus> {
    const { store, createdMs, machine } = this.#keys;
    const rows = await this.#rows();
    return {
      storeKeyId: store.id,
      machineKeyId: machine.id,
      machineKeyPath: machine.path,
      isCredential: machine.place === 'credential',
      createdAtMs: createdMs,
      names: rows.map(({ name }) => name),
    };
  }

  /**
   * Replaces the key of the store, and the key of the machine unless systemd provides it. A kill at any time leaves a state
   * that the next start continues. `replacing`: new values of secrets. `also`: statements of the same unit.
   */
  rotate(replacing: Readonly<Record<string, string>>, also: readonly Statement[] = []): Promise<VaultStatus> {
    return this.#serially.run(WRITES, () => this.#rotate(replacing, also));
  }

  async #rotate(replacing: Readonly<Record<string, string>>, also: readonly Statement[]): Promise<VaultStatus> {
    const { keys } = this.#deps;
    const { machine } = this.#keys;
    if (machine.place === 'credential') {
      await this.#rewrap(machine, { replacing, also });
      await this.#purge();
      return this.status();
    }
    if (machine.place === 'next') await this.#adopt(); // an earlier rotation could not write its files
    const staged = await keys.stage();
    try {
      await this.#rewrap(staged, { replacing, also });
    } catch (error) {
      if ((await wrappingOf(this.#deps.store))?.machine_id !== staged.id) await keys.forget();
      throw error;
    }
    await this.#adopt();
    await this.#purge();
    return this.status();
  }

  /** Puts the staged key, which the database has, in the place of the former one. */
  async #adopt(): Promise<void> {
    await this.#deps.keys.adopt();
    const { bytes, id, path } = this.#keys.machine;
    this.#keys.machine = { bytes, id, place: 'file', path: path.replace(/\.new$/, '') };
  }

  /** Brings the files in line with the key that the database was encrypted with. */
  async #settle(found: readonly MachineKey[]): Promise<void> {
    const { keys, log, onNotice } = this.#deps;
    const { machine } = this.#keys;
    if (machine.place === 'next') await this.#adopt();
    if (machine.place === 'before') {
      await keys.restore();
      this.#keys.machine = { ...machine, place: 'file', path: machine.path.replace(/\.old$/, '') };
    }
    const leftovers = found.some(({ place }) => place === 'next' || place === 'before');
    if (leftovers) {
      await keys.forget();
      log.warn({}, 'a rotation of the keys was interrupted; it is finished or taken back now');
    }
    const credential = found.find(({ place }) => place === 'credential');
    if (credential === undefined || credential.id === this.#keys.machine.id) return;
    const former = this.#keys.machine.path;
    await this.#rewrap(credential, { replacing: {}, also: [] });
    await this.#purge();
    const text = `The secrets of the database are now encrypted with the credential ${credential.path}. The key in ${former} is only needed for earlier backups: keep it with them, and remove it here.`;
    onNotice?.(warn('machine_key_moved', text));
  }

  /** The only change of the database in a rotation: one transaction. */
  async #rewrap(
    machine: MachineKey,
    { replacing, also }: { replacing: Readonly<Record<string, string>>; also: readonly Statement[] },
  ): Promise<void> {
    const { store, clock } = this.#deps;
    const former = this.#keys.store;
    const next = newStoreKey();
    const createdMs = clock.now();
    const sealedAgain = (await this.#rows()).map(({ name, sealed }) => {
      const value = replacing[name] ?? unseal(sealed, secretPlace(name), former).toString('utf8');
      const update = build.updateTable('secrets').set({ sealed: sealText(name, value, next) });
      return statementOf(update.where('name', '=', name).where('sealed', '=', sealed), 1);
    });
    const others = (await sealedRows(store.db)).flatMap(({ place, sealed, replace }) => {
      const text = opened(place, sealed, former);
      return text === undefined ? [] : [replace(seal(Buffer.from(text, 'utf8'), place, next))];
    });
    const remove = build.deleteFrom('store_keys').where('key_id', '=', former.id);
    await store.commit({
      statements: [statementOf(remove, 1), insertKey(next, machine, createdMs), ...sealedAgain, ...others, ...also],
      durable: true,
      erases: true,
    });
    this.#keys = { store: next, createdMs, machine };
  }

  /** Removes texts that former keys can decrypt from the write-ahead log, and then the former key. */
  async #purge(): Promise<void> {
    const isEmptied = await this.#deps.store.emptyLog();
    // Otherwise the change may be only in the log: if that is lost, the former key is needed again.
    if (isEmptied) await this.#deps.keys.forget();
    else this.#deps.log.warn({}, 'the log of the database is in use; the former key is removed at the next start');
  }

  #rows() {
    return this.#deps.store.db.selectFrom('secrets').select(['name', 'sealed']).orderBy('name').execute();
  }
}

/** Encrypts a text for its place. */
export type SealText = (place: SealedPlace, text: string) => string;

const WRITES = 'writes';

function opened(place: SealedPlace, sealed: string, key: SealingKey): string | undefined {
  try {
    return unseal(sealed, place, key).toString('utf8');
  } catch {
    return undefined; // it says why by being undefined: nobody but its owner can mend it
  }
}

const KEY_BYTES = 32;

const newStoreKey = (): SealingKey => ({
  id: randomBytes(6).toString('hex'),
  bytes: randomBytes(KEY_BYTES),
});

const secretPlace = (name: string): SealedPlace => ({ table: 'secrets', row: name, column: 'sealed' });
const keyPlace = (keyId: string): SealedPlace => ({ table: 'store_keys', row: keyId, column: 'wrapped' });
const sealText = (name: string, text: string, key: SealingKey) =>
  seal(Buffer.from(text, 'utf8'), secretPlace(name), key);

function insertKey({ id, bytes }: SealingKey, machine: MachineKey, createdMs: number): Statement {
  const wrapped = seal(bytes, keyPlace(id), machine);
  const row = { key_id: id, machine_id: machine.id, wrapped, created_ms: createdMs };
  return statementOf(build.insertInto('store_keys').values(row), 1);
}

const wrappingOf = ({ db }: Pick<Store, 'db'>) => db.selectFrom('store_keys').selectAll().executeTakeFirst();

async function openKeys(deps: VaultDeps, found: readonly MachineKey[]): Promise<Keys> {
  try {
    return (await openStored(deps, found)) ?? (await createKeys(deps, found));
  } catch (error) {
    if (!deps.discardsLost || !(error instanceof SecretsLost)) throw error;
    await discard(deps);
    return createKeys(deps, found);
  }
}

/** Undefined: the store has no secrets yet. */
async function openStored({ store, storePath }: VaultDeps, found: readonly MachineKey[]): Promise<Keys | undefined> {
  const row = await wrappingOf(store);
  const rows = await store.db.selectFrom('secrets').select(['name', 'sealed']).execute();
  if (row === undefined && rows.length === 0) return undefined;
  if (row === undefined) throw lost(storePath, 'the key of the store is missing');
  const machine = found.find(({ id }) => id === row.machine_id);
  if (machine === undefined) throw toMissing(storePath, row.machine_id, found);
  try {
    const key = { id: row.key_id, bytes: unseal(row.wrapped, keyPlace(row.key_id), machine) };
    for (const { name, sealed } of rows) unseal(sealed, secretPlace(name), key);
    return { store: key, createdMs: row.created_ms, machine };
  } catch (error) {
    throw lost(storePath, error instanceof Error ? error.message : String(error));
  }
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
