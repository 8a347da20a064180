import { existsSync } from 'node:fs';
import { keepAwake, systemClock } from '../clock.ts';
import { EXIT } from '../exit-codes.ts';
import { makeCompileCache } from '../home/compile-cache.ts';
import { readDaemonFile, removeDaemonFile, writeDaemonFile } from '../home/daemon-file.ts';
import { DRAIN_SIGNAL } from '../home/drain-signal.ts';
import { openHomeFolder } from '../home/home-folder.ts';
import { resolveHome, type Surroundings } from '../home/home-path.ts';
import { restoreJournal } from '../home/restore-journal.ts';
import { findHostTimeZone } from '../host-time-zone.ts';
import { randomIds } from '../ids.ts';
import { requireFreePort, urlOf } from '../listen.ts';
import type { Log } from '../log.ts';
import { createLogRing } from '../log-ring.ts';
import { createLog } from '../pino-log.ts';
import { StartError } from '../start-error.ts';
import { readVersion } from '../version.ts';
import { loadAssets } from './assets.ts';
import { finishRestore } from './backup/finish-restore.ts';
import { toBanner, toStandbyText } from './banner.ts';
import { readBootId } from './boot-id.ts';
import { startDaemon } from './compose.ts';
import { loadConfig } from './config/config.ts';
import { type Options, overridesOf, resolveOptions, type StartFlags } from './config/options.ts';
import type { Daemon, Replacements, Standby } from './daemon-options.ts';
import { isDiskFull } from './disk-full.ts';
import { keepObjectsYoung, withUsualOptions } from './garbage.ts';
import { beginLife, type Life } from './life/life.ts';
import { createStopSignals } from './stop-signals.ts';

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
export async function start({ flags, around, root, keepCode, replace }: StartOptions): Promise<void> {
  keepObjectsYoung();
  const home = resolveHome(flags, around);
  // Before anything reads the files that a killed restore was moving.
  if (existsSync(restoreJournal(home))) await finishRestore(home);
  const { config, warnings } = await loadConfig(home);
  const options = resolveOptions(flags, config, around);
  // If the home's own daemon uses the port, the home's lock reports more than a busy port.
  if (!(await isOwnPort(home, options.port))) await requireFreePort(options);
  const changes = await openHomeFolder(home);
  const logRing = createLogRing(randomIds.secret(4));
  const log = createLog({ level: config.logLevel, readable: process.stderr.isTTY, ring: logRing });
  for (const notice of [...changes, ...warnings]) log.warn({}, notice);
  const assets = loadAssets(root);
  const [version, bootId] = await Promise.all([readVersion(root), readBootId()]);
  const environment = around.environment;
  const { host, port, workdir, model, storeUrl, isStandby, authEnabled } = options;
  const stopping = new AbortController();
  const life = beginLife({
    start: (how) =>
      startDaemon({
        home,
        host,
        port,
        ...how,
        authEnabled,
        newSecrets: flags.newSecrets === true,
        config,
        overrides: overridesOf(flags, options, around),
        environment,
        ...(workdir !== undefined && { workdir }),
        ...(model !== undefined && { model }),
        ...(storeUrl !== undefined && { storeUrl }),
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
        clock: systemClock,
        ids: randomIds,
        ...(replace && { replace }),
      }),
    standby: isStandby ? { signal: stopping.signal, onWaiting: noteStandby({ home, host, version }) } : undefined,
  });
  const end = guardProcess({ home, life, stopping, log });
  const onReady = (daemon: Daemon) =>
    announce({ home, options, daemon, version, linkCommand: toLinkCommand(home, around) });
  using _ = keepAwake();
  try {
    await onReady(await life.daemon());
    void life.follow({ end, onReady, log });
    await makeCompileCache({ home, root });
    withUsualOptions(keepCode);
  } catch (error) {
    if (stopping.signal.aborted) return; // a signal ends the process
    throw isDiskFull(error) ? new StartError(noRoomIn(home), { cause: error }) : error;
  }
}

/** Other commands find the standby as they find a daemon. */
const noteStandby =
  ({ home, host, version }: { home: string; host: string; version: string }): Standby['onWaiting'] =>
  async ({ port, active }) => {
    await noteAddress(home, { host, port });
    process.stdout.write(toStandbyText({ version, url: urlOf({ host, port, publicUrl: undefined }), active }));
  };

async function isOwnPort(home: string, port: number): Promise<boolean> {
  const running = await readDaemonFile(home);
  return running !== undefined && new URL(running.url).port === String(port);
}

const noRoomIn = (home: string): string =>
  `The disk of ${home} is full, so nothing can be stored. No data is lost: free some space and start again.`;

interface Guarded {
  home: string;
  life: Life;
  /** Ends the wait of a standby. */
  stopping: AbortController;
  log: Log;
}

/** Signals stop the daemon even while it starts. An unhandled fault ends the process, because its state is unknown. */
function guardProcess({ home, life, stopping, log }: Guarded): (why: string, code: number) => void {
  const stop = async (reason: string) => {
    using _ = keepAwake(); // the port closes before the store does
    stopping.abort(new Error(reason));
    const daemon = await life.daemon().catch((error: unknown) => {
      if (error !== stopping.signal.reason) throw error;
      return undefined; // it was a standby
    });
    await removeDaemonFile(home, process.pid);
    await daemon?.shutdown(reason);
  };
  const onSignal = createStopSignals({ stop, exit: (code) => process.exit(code), clock: systemClock, log });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
  process.on(DRAIN_SIGNAL, life.drain);
  const die = (err: unknown, message: string) => {
    log.error({ err }, message);
    process.exit(EXIT.failed);
  };
  process.on('uncaughtException', (error) => die(error, 'uncaught exception'));
  process.on('unhandledRejection', (reason) => die(reason, 'unhandled promise rejection'));
  process.stdout.on('error', () => undefined); // the reader of the banner may be gone
  return (why, code) => {
    createStopSignals({ stop, exit: (found) => process.exit(found || code), clock: systemClock, log })(why);
  };
}

interface Announcement {
  home: string;
  options: Options;
  daemon: Daemon;
  version: string;
  linkCommand: string;
}

async function announce({ home, options, daemon, version, linkCommand }: Announcement): Promise<void> {
  await noteAddress(home, { host: options.host, port: daemon.port });
  const link = options.authEnabled ? await daemon.loginLink() : undefined;
  process.stdout.write(toBanner({ version, home, daemon, link, linkCommand }));
}

/** Other processes of this machine use the bound address. */
async function noteAddress(home: string, { host, port }: { host: string; port: number }): Promise<void> {
  const url = urlOf({ host, port, publicUrl: undefined });
  await writeDaemonFile(home, { url, pid: process.pid, startedAt: new Date(systemClock.now()).toISOString() });
}

/** The command as the user has to type it: in a clone, `headgate` is not on the PATH. */
function toLinkCommand(home: string, { environment, userHome }: Surroundings): string {
  const program = environment.npm_lifecycle_event === 'start' ? 'npx headgate' : 'headgate';
  if (home === resolveHome({}, { environment: {}, userHome, cwd: '/' })) return `${program} link`;
  return `${program} link --home ${/[^\w./-]/.test(home) ? `'${home.replaceAll("'", "'\\''")}'` : home}`;
}
