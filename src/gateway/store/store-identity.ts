import { nanoid } from 'nanoid';
import { COPY_KEY, requireWhole } from './copying/copy-mark.ts';
import type { Connection } from './sqlite/sqlite-connection.ts';
import type { Statement } from './store.ts';

/** What a store knows about itself and how it was left. */
export interface StoreIdentity {
  epoch: string;
  lastAliveMs: number | undefined;
  /** The machine lost power, or was reset, while a daemon was writing, so the newest commits may be missing. */
  openedAfterUncleanPowerLoss: boolean;
}

interface Claim {
  bootId: string;
  durability: 'normal' | 'full';
  /** Found by checking the files themselves. */
  hasLostCommits: boolean;
}

/** Reads the identity and marks the store as in use. Renews the epoch when logs may have lost their ends. */
export function claimIdentity(connection: Connection, { bootId, durability, hasLostCommits }: Claim): StoreIdentity {
  const meta = readMeta(connection);
  const openedAfterUncleanPowerLoss =
    meta.has('boot_id') && meta.get('boot_id') !== bootId && meta.get('clean_stop') !== '1';
  // The durability setting before the loss decides.
  const lost = hasLostCommits || (openedAfterUncleanPowerLoss && meta.get('durability') !== 'full');
  const kept = lost ? undefined : meta.get('epoch');
  const epoch = kept ?? nanoid(12);
  writeMeta(connection, { epoch, boot_id: bootId, clean_stop: '0', durability });
  const alive = meta.get('last_alive_ms');
  return { epoch, lastAliveMs: alive === undefined ? undefined : Number(alive), openedAfterUncleanPowerLoss };
}

/** Marks an orderly stop, with further statements to commit. */
export function releaseIdentity(connection: Connection, also: readonly Statement[]): void {
  writeMeta(connection, { clean_stop: '1' }, also);
}

/** Throws for a file that is only a part of another store. */
export function requireWholeFile(connection: Pick<Connection, 'all'>, path: string): void {
  if (hasMeta(connection)) requireWhole(path, readMeta(connection).get(COPY_KEY));
}

/** False when the previous daemon did not stop in an orderly way; a new file counts as clean. */
export function isCleanlyStopped(connection: Connection): boolean {
  return !hasMeta(connection) || readMeta(connection).get('clean_stop') !== '0';
}

const hasMeta = (connection: Pick<Connection, 'all'>): boolean =>
  connection.all("select 1 from sqlite_schema where type = 'table' and name = 'meta'").length > 0;

function readMeta(connection: Pick<Connection, 'all'>): Map<string, string> {
  return new Map(connection.all('select key, value from meta').map((row) => [String(row.key), String(row.value)]));
}

/** Synced at once, because an "in use" mark that is lost with the power would hide that later commits were lost too. */
function writeMeta(connection: Connection, values: Record<string, string>, also: readonly Statement[] = []): void {
  const [before] = connection.all('pragma synchronous');
  connection.run('pragma synchronous = full');
  connection.run('begin immediate');
  for (const [key, value] of Object.entries(values)) connection.run(UPSERT_META, [key, value]);
  for (const { sql, parameters } of also) connection.run(sql, parameters);
  connection.run('commit');
  connection.run(`pragma synchronous = ${Number(before?.synchronous)}`);
}

export const UPSERT_META =
  'insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value';
