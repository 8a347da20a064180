import { warn } from '../../../protocol/notice.ts';
import type { MachineKey } from '../../home/machine-key.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement } from '../store/store.ts';
import { sealedRows } from './sealed-rows.ts';
import { type SealedPlace, seal } from './sealing.ts';
import {
  insertKey,
  isGrouped,
  type Keys,
  newStoreKey,
  openKeys,
  openSecret,
  openText,
  sealText,
  type VaultDeps,
  wrappingOf,
} from './vault-keys.ts';

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

/** Secrets to store or to remove, in one unit with other statements. */
export interface SecretChange {
  set?: Readonly<Record<string, string>>;
  remove?: readonly string[];
  also?: readonly Statement[];
}

/** A secret of a group; its value is undefined if it cannot be decrypted. */
export interface GroupedSecret {
  name: string;
  value: string | undefined;
}

/**
 * The secrets in the database, encrypted with a key of the store, which is encrypted with a key of this machine (decision
 * 80). Open it with `Vault.open`.
 */
export class Vault {
  readonly #deps: VaultDeps;
  #keys: Keys;
  /** Changes and rotations, one after the other: a text must be encrypted with the key that is in force when it is stored. */
  #changing: Promise<unknown> = Promise.resolve();

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
    return row && openSecret(name, row.sealed, this.#keys.store);
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

  /** The secrets whose names are `<group>:…`. */
  async group(group: string): Promise<GroupedSecret[]> {
    const rows = (await this.#rows()).filter(({ name }) => name.startsWith(`${group}:`));
    return rows.map(({ name, sealed }) => ({ name, value: this.#tryUnseal(name, sealed) }));
  }

  /** Stores, replaces and removes secrets of groups durably. What is replaced or removed is overwritten. */
  change({ set = {}, remove = [], also = [] }: SecretChange): Promise<void> {
    return this.#inTurn(async () => {
      const { store, clock } = this.#deps;
      const upserts = Object.entries(set).map(([name, value]) => {
        const sealed = sealText(name, value, this.#keys.store);
        const insert = build.insertInto('secrets').values({ name, sealed, created_ms: clock.now() });
        return statementOf(insert.onConflict((on) => on.column('name').doUpdateSet({ sealed })));
      });
      const removals = remove.map((name) => statementOf(build.deleteFrom('secrets').where('name', '=', name)));
      await store.commit({ statements: [...upserts, ...removals, ...also], durable: true, erases: true });
    });
  }

  /** Stores encrypted texts in other tables. `make` builds the statements; it may run later, after a change of the keys. */
  commitSealed(
    make: (seal: SealText) => readonly Statement[],
    { erases = false }: { erases?: boolean } = {},
  ): Promise<void> {
    return this.#inTurn(async () => {
      const sealIn: SealText = (place, text) => seal(Buffer.from(text, 'utf8'), place, this.#keys.store);
      await this.#deps.store.commit({ statements: make(sealIn), durable: true, erases });
    });
  }

  /** Reads such a text. Undefined: it was altered, or encrypted with a key that nobody has any more. */
  open(place: SealedPlace, sealed: string): string | undefined {
    return openText(place, sealed, this.#keys.store);
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
    return this.#inTurn(() => this.#rotate(replacing, also));
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

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#changing.then(work);
    this.#changing = done.catch(() => undefined); // the caller is told
    return done;
  }

  #tryUnseal(name: string, sealed: string): string | undefined {
    try {
      return openSecret(name, sealed, this.#keys.store);
    } catch (error) {
      this.#deps.log.warn({ err: error, name }, 'a secret cannot be decrypted');
      return undefined;
    }
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
    const sealedAgain = (await this.#rows()).flatMap(({ name, sealed }) => {
      const value =
        replacing[name] ?? (isGrouped(name) ? this.#tryUnseal(name, sealed) : openSecret(name, sealed, former));
      if (value === undefined) return []; // it stays as damaged as it is
      const update = build.updateTable('secrets').set({ sealed: sealText(name, value, next) });
      return [statementOf(update.where('name', '=', name).where('sealed', '=', sealed), 1)];
    });
    const others = (await sealedRows(store.db)).flatMap(({ place, sealed, replace }) => {
      const text = openText(place, sealed, former);
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
