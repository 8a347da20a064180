import { wordsOf } from '../../protocol/words-of.ts';
import { keepAwake, systemClock } from '../clock.ts';
import { lockHome } from '../gateway/store/home-lock.ts';
import { makeCompileCache } from '../home/compile-cache.ts';
import { readDaemonFile, writeDaemonFile } from '../home/daemon-file.ts';
import { openHomeFolder } from '../home/home-folder.ts';
import { resolveHome, type Surroundings } from '../home/home-path.ts';
import { hasRestore } from '../home/restore-journal.ts';
import { findHostTimeZone } from '../host-time-zone.ts';
import { randomIds } from '../ids.ts';
import { isUnavailable } from '../is-unavailable.ts';
import { requireFreePort, urlOf } from '../listen.ts';
import { createLogRing, type LogRing } from '../log-ring.ts';
import { createLog } from '../pino-log.ts';
import { StartError } from '../start-error.ts';
import { readVersion } from '../version.ts';
import { loadAssets } from './assets.ts';
import { finishRestore } from './backup/finish-restore.ts';
import { toBanner, toStandbyText, toWorkerText } from './banner.ts';
import { readBootId } from './boot-id.ts';
import { startDaemon } from './compose.ts';
import { loadConfig } from './config/config.ts';
import { type Options, overridesOf, resolveOptions, type StartFlags } from './config/options.ts';
import type { Daemon, DaemonOptions, Replacements, Standby } from './daemon-options.ts';
import { isDiskFull } from './disk-full.ts';
import { keepObjectsYoung, withUsualOptions } from './garbage.ts';
import { createDaemonProcess, writePidFile } from './handover/daemon-process.ts';
import { findPredecessor, type Predecessor, untilUnlocked } from './handover/predecessor.ts';
import { checkBeforeStart } from './handover/preflight.ts';
import { createLaterSettings, type Settings } from './life/later-settings.ts';
import { beginLife } from './life/life.ts';

export type { StartFlags } from './config/options.ts';

interface StartOptions {
  flags: StartFlags;
  around: Surroundings;
  /** The package's folder. */
  root: URL;
  /** Keeps the compiled code of this start for the next one. */
  keepCode(): void;
  /** Replacement parts for tests. */
  replace?: Replacements;
}

/** Starts the daemon and returns when it is ready; from then on signals end the process. */
export async function start(asked: StartOptions): Promise<void> {
  keepObjectsYoung();
  const predecessor = findPredecessor(process);
  try {
    await startAfter(predecessor, asked);
  } catch (error) {
    await predecessor?.tell({ type: 'refused', why: wordsOf(error) });
    throw error;
  }
}

async function startAfter(predecessor: Predecessor | undefined, asked: StartOptions): Promise<void> {
  const { flags, around, root, keepCode } = asked;
  const home = resolveHome(flags, around);
  // Before anything reads the files that a killed restore was moving. A predecessor has done it, and holds the lock.
  const restored = predecessor === undefined && hasRestore(home) ? await finishRestore(home) : [];
  const { config, warnings } = await loadConfig(home);
  const options = resolveOptions(flags, config, around);
  predecessor?.requireAddress({ host: options.host, port: options.port });
  // If the home's own daemon uses the port, the home's lock reports more than a busy port.
  if (predecessor === undefined && !(await isOwnPort(home, options.port))) await requireFreePort(options);
  const changes = await openHomeFolder(home);
  const logRing = createLogRing(randomIds.secret(4));
  const log = createLog({ level: config.logLevel, readable: process.stderr.isTTY, ring: logRing });
  for (const notice of [...restored, ...changes, ...warnings]) log.warn({}, notice);
  const version = await readVersion(root);
  const self = createDaemonProcess({ home, log, asked: { host: options.host, port: options.port } });
  const { restart } = self;
  const optionsFor = await prepareOptions({ asked, home, log, logRing, version, restart });
  const settings = { config, options };
  const first = optionsFor(settings, { port: options.port, descriptor: predecessor?.descriptor });
  await predecessor?.mayStart({ version, migration: await checkBeforeStart(first) });
  if (predecessor !== undefined) await untilUnlocked(() => lockHome(home), systemClock);
  const stopping = new AbortController();
  const { isWorker } = options;
  const onWaiting = noteStandby({ home, host: options.host, version, isWorker, predecessor });
  const later = createLaterSettings(settings, { home, flags, around, uid: process.getuid?.(), log });
  const life = beginLife({
    start: async ({ port, ...how }) =>
      startDaemon({
        ...(port === undefined ? first : optionsFor(await later(), { port })),
        ...(isWorker && { worker: { signal: stopping.signal, onWaiting } }),
        ...how,
      }),
    standby: options.isStandby ? { signal: stopping.signal, onWaiting } : undefined,
  });
  const { announceIt, announced } = announcer(
    { home, options, version, linkCommand: toLinkCommand(home, around) },
    stopping.signal,
  );
  const end = self.guard({
    life,
    stopping,
    announced,
    async startAgain(failure) {
      const daemon = await life.again();
      await announceIt(daemon, failure);
      return daemon;
    },
  });
  void predecessor?.orphaned.then(() => process.kill(process.pid, 'SIGTERM')); // also while it waits as a standby
  using _ = keepAwake();
  try {
    await announceIt(await life.daemon());
    await predecessor?.tell({ type: 'serving' });
    void life.follow({ end, onReady: announceIt, log });
    await makeCompileCache({ home, root });
    withUsualOptions(keepCode);
  } catch (error) {
    if (stopping.signal.aborted) return; // a signal ends the process
    throw inWords(error, home);
  }
}

/** A full disk, or a database that was lost in the middle, is no fault of the daemon. */
function inWords(error: unknown, home: string): unknown {
  if (isDiskFull(error)) return new StartError(noRoomIn(home), { cause: error });
  return isUnavailable(error) ? new StartError(`Starting was interrupted. ${error.message}`, { cause: error }) : error;
}

interface Parts {
  asked: StartOptions;
  home: string;
  log: DaemonOptions['log'] & { level: string };
  logRing: LogRing;
  version: string;
  restart: DaemonOptions['restart'];
}

/** `descriptor`: of a socket that listens already. */
interface Place {
  port: number;
  descriptor?: number | undefined;
}

/** What a daemon of this process gets. */
async function prepareOptions(
  parts: Parts,
): Promise<(settings: Settings, place: Place) => Omit<DaemonOptions, 'onOver'>> {
  const { asked, home, log, logRing, version, restart } = parts;
  const { flags, around, root, replace } = asked;
  const assets = loadAssets(root);
  const bootId = await readBootId();
  return ({ config, options }, { port, descriptor }) => {
    const { host, workdir, model, storeUrl, machineUrl, machineLabels, busUrl, authEnabled } = options;
    return {
      home,
      host,
      port,
      descriptor,
      authEnabled,
      newSecrets: flags.newSecrets === true,
      config,
      overrides: overridesOf(flags, options, around),
      environment: around.environment,
      ...(workdir !== undefined && { workdir }),
      ...(model !== undefined && { model }),
      ...(storeUrl !== undefined && { storeUrl }),
      ...(machineUrl !== undefined && { machineUrl }),
      machineLabels,
      ...(busUrl !== undefined && { busUrl }),
      userHome: around.userHome,
      uid: process.getuid?.(),
      version,
      hostTimeZone: findHostTimeZone(),
      bootId,
      assets,
      log,
      logRing,
      setLogLevel: (level) => {
        log.level = level;
      },
      restart,
      clock: systemClock,
      ids: randomIds,
      ...(replace && { replace }),
    };
  };
}

interface StandbyNote {
  home: string;
  host: string;
  version: string;
  isWorker: boolean;
  predecessor: Predecessor | undefined;
}

/** Other commands find the standby as they find a daemon. */
const noteStandby =
  ({ home, host, version, isWorker, predecessor }: StandbyNote): Standby['onWaiting'] =>
  async ({ port, active }) => {
    await noteAddress(home, { host, port });
    await writePidFile(process.env);
    const toText = isWorker ? toWorkerText : toStandbyText;
    process.stdout.write(toText({ version, url: urlOf({ host, port, publicUrl: undefined }), active }));
    await predecessor?.tell({ type: 'serving' });
  };

async function isOwnPort(home: string, port: number): Promise<boolean> {
  const running = await readDaemonFile(home);
  return running !== undefined && new URL(running.url).port === String(port);
}

const noRoomIn = (home: string): string =>
  `The disk of ${home} is full, so nothing can be stored. No data is lost: free some space and start again.`;

interface Announcement {
  home: string;
  options: Options;
  daemon: Daemon;
  version: string;
  linkCommand: string;
  failure: string | undefined;
}

async function announce({ home, options, daemon, version, linkCommand, failure }: Announcement): Promise<void> {
  await noteAddress(home, { host: options.host, port: daemon.port, failure });
  await writePidFile(process.env);
  if (options.isWorker) return; // it has said what it is
  const link = options.authEnabled ? await daemon.loginLink() : undefined;
  process.stdout.write(toBanner({ version, home, daemon, link, linkCommand }));
}

/** Announces each daemon of this process, unless it is stopping. */
function announcer(about: Omit<Announcement, 'daemon' | 'failure'>, stopping: AbortSignal) {
  let latest = Promise.resolve();
  return {
    async announceIt(daemon: Daemon, failure?: string): Promise<void> {
      if (stopping.aborted) return;
      latest = announce({ ...about, daemon, failure });
      await latest;
    },
    announced: () => latest,
  };
}

interface BoundAddress {
  host: string;
  port: number;
  failure?: string | undefined;
}

/** Other processes of this machine use the bound address. */
async function noteAddress(home: string, { host, port, failure }: BoundAddress): Promise<void> {
  const url = urlOf({ host, port, publicUrl: undefined });
  const startedAt = new Date(systemClock.now()).toISOString();
  await writeDaemonFile(home, { url, pid: process.pid, startedAt, failure });
}

/** The command as the user has to type it: in a clone, `headgate` is not on the PATH. */
function toLinkCommand(home: string, { environment, userHome }: Surroundings): string {
  const program = environment.npm_lifecycle_event === 'start' ? 'npx headgate' : 'headgate';
  if (home === resolveHome({}, { environment: {}, userHome, cwd: '/' })) return `${program} link`;
  return `${program} link --home ${/[^\w./-]/.test(home) ? `'${home.replaceAll("'", "'\\''")}'` : home}`;
}
