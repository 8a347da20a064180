import { existsSync } from 'node:fs';
import path from 'node:path';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import { type CopyProgress, CopyRefused, type CopySide } from '../../gateway/store/copying/copy-side.ts';
import { type Copied, copyStore } from '../../gateway/store/copying/copy-store.ts';
import { openSqliteSource, openSqliteTarget } from '../../gateway/store/copying/sqlite-side.ts';
import { lockHome } from '../../gateway/store/home-lock.ts';
import { faultOf } from '../../gateway/store/sqlite/sqlite-errors.ts';
import { openHomeFolder } from '../../home/home-folder.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { restoreJournal } from '../../home/restore-journal.ts';
import type { Log } from '../../log.ts';
import { InterruptedError, StartError, UsageError } from '../../start-error.ts';
import { asStartError } from '../as-start-error.ts';
import { DATABASE } from '../backup/home-files.ts';
import { loadConfig } from '../config/config.ts';
import { storeUrlOf } from '../config/options.ts';
import { isDiskFull } from '../disk-full.ts';
import { isStoreAddress, STORE_ADDRESS } from './store-config.ts';

export type { CopyProgress } from '../../gateway/store/copying/copy-side.ts';

export interface MigrateStoreOptions {
  home: string;
  /** `sqlite`, `postgresql` for the configured address, or an address. */
  from: string;
  to: string;
  environment: Surroundings['environment'];
  clock: Clock;
  signal: AbortSignal;
  onProgress(progress: CopyProgress): void;
}

export interface MigratedStore extends Copied {
  /** Places for people, without a user and password. */
  from: string;
  to: string;
}

/** Copies the store of a stopped daemon from one kind of database to the other. Throws StartError in words. */
export async function migrateStore(options: MigrateStoreOptions): Promise<MigratedStore> {
  const { home } = options;
  const { url, isToFile } = await resolveSides(options);
  if (existsSync(restoreJournal(home)))
    throw new StartError(`A restore of ${home} is unfinished. Start the daemon once, and stop it.`);
  if (isToFile) await openHomeFolder(home);
  else if (!existsSync(path.join(home, DATABASE))) throw new StartError(`There is no store in ${home}.`);
  const lock = await asStartError(() => lockHome(home));
  try {
    return await copyBetween(options, { url, isToFile });
  } finally {
    lock.release();
  }
}

interface Sides {
  url: string;
  isToFile: boolean;
}

async function resolveSides({ from, to, home, environment }: MigrateStoreOptions): Promise<Sides> {
  const isToFile = to === SQLITE;
  if ((from === SQLITE) === isToFile)
    throw new UsageError('One of --from and --to must be sqlite, and the other one the PostgreSQL database.');
  const [flag, given] = isToFile ? ['--from', from] : ['--to', to];
  if (given === CONFIGURED) return { url: await configuredUrl(home, environment), isToFile };
  if (isStoreAddress(given)) return { url: given, isToFile };
  throw new UsageError(
    `${flag} must be sqlite, postgresql (the configured address) or an address: it ${STORE_ADDRESS}`,
  );
}

const SQLITE = 'sqlite';
const CONFIGURED = 'postgresql';

async function configuredUrl(home: string, environment: Surroundings['environment']): Promise<string> {
  const { config } = await loadConfig(home);
  const url = storeUrlOf(config, environment);
  if (url === undefined)
    throw new UsageError('No PostgreSQL database is configured. Set HEADGATE_STORE_URL, or store.url in config.json.');
  return url;
}

async function copyBetween(options: MigrateStoreOptions, { url, isToFile }: Sides): Promise<MigratedStore> {
  const { home, clock, signal, onProgress } = options;
  const file = path.join(home, DATABASE);
  const { openPostgresSide } = await import('../../gateway/store/copying/postgres-side.ts');
  const openDatabase = () => openPostgresSide({ url, isTarget: !isToFile, clock, log: silent, signal });
  const opened: CopySide[] = [];
  const open = async (side: CopySide | Promise<CopySide>): Promise<CopySide> => {
    const found = await side;
    opened.push(found);
    return found;
  };
  try {
    const source = await asStartError(() => open(isToFile ? openDatabase() : openSqliteSource(file)));
    const target = await asStartError(() => open(isToFile ? openSqliteTarget(file, silent) : openDatabase()));
    const copied = await copyStore({ source, target, signal, onProgress });
    return { from: source.place, to: target.place, ...copied };
  } catch (error) {
    throw toStop(error, signal);
  } finally {
    for (const side of opened) await side.close();
  }
}

/** An error after the copy began says how to continue. */
function toStop(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof StartError) return error;
  if (error instanceof CopyRefused) return new StartError(error.message, { cause: error });
  if (signal.aborted) return new InterruptedError(`Interrupted. ${AGAIN}`);
  if (faultOf(error) === 'damaged')
    return new StartError(
      `The copy cannot be completed, because a database is damaged: ${wordsOf(error)}. Restore a backup of it, and begin again.`,
      { cause: error },
    );
  const why = isDiskFull(error) ? 'the disk is full' : wordsOf(error);
  return new StartError(`The copy is not complete: ${why}. ${AGAIN}`, { cause: error });
}

const AGAIN = 'Run the same command again: it continues where it stopped.';

const nothing = () => undefined;
/** The schema of a new database is no news for the person. */
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
