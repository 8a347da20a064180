import { writeFile } from 'node:fs/promises';
import { keepAwake, systemClock } from '../../clock.ts';
import type { Environment } from '../../environment.ts';
import { EXIT } from '../../exit-codes.ts';
import { removeDaemonFile } from '../../home/daemon-file.ts';
import { DRAIN_SIGNAL } from '../../home/drain-signal.ts';
import type { Log } from '../../log.ts';
import type { Daemon } from '../daemon-options.ts';
import { collectGarbage } from '../garbage.ts';
import type { Life } from '../life/life.ts';
import { createStopSignals } from '../stop-signals.ts';
import { createHandover, type Handover } from './handover.ts';
import type { AskedAddress } from './handover-messages.ts';
import { spawnSuccessor, untilChecked } from './successor.ts';

interface DaemonProcessDeps {
  home: string;
  log: Log;
  /** The address that the daemon was asked to listen on. */
  asked: AskedAddress;
}

/** What a process does with its daemon. */
interface Guarded {
  life: Pick<Life, 'daemon' | 'drain' | 'isServing'>;
  /** Ends the wait of a standby. */
  stopping: AbortController;
  /** Settles when the latest daemon has been announced; none is from the moment that `stopping` aborts. */
  announced(): Promise<void>;
  /** Starts the daemon again, and tells why. */
  startAgain(failure: string): Promise<Daemon>;
}

/** The process of a daemon: it ends by signals and by faults, and another one can take over. */
interface DaemonProcess {
  restart: Handover['restart'];
  /**
   * From now on, signals stop the daemon, even while it starts. Returns what stops it in order, and ends the process with a
   * code.
   */
  guard(guarded: Guarded): (why: string, code: number) => void;
}

export function createDaemonProcess({ home, log, asked }: DaemonProcessDeps): DaemonProcess {
  const ready = Promise.withResolvers<Guarded>();
  const current = async () => (await ready.promise).life.daemon();
  let life: Guarded['life'] | undefined;
  const handover = createHandover({
    isServing: () => life?.isServing() ?? false,
    async startSuccessor(signal) {
      const descriptor = (await current()).descriptor();
      const words = [...process.execArgv, ...process.argv.slice(1)];
      const { execPath: program, env: environment } = process;
      return untilChecked(spawnSuccessor({ program, words, environment, descriptor, asked }), {
        clock: systemClock,
        signal,
      });
    },
    async stop() {
      await (await current()).shutdown('the daemon is restarted', { lastAnswers: true });
    },
    async startAgain(why) {
      const { startAgain } = await ready.promise;
      await startAgain(why).catch(async (error: unknown) => {
        await removeDaemonFile(home, process.pid);
        throw error;
      });
    },
    canLeave: pidFileIn(process.env) !== undefined,
    tidy: collectGarbage,
    exit: (code) => process.exit(code),
    clock: systemClock,
    log,
  });
  return {
    restart: (asked) => handover.restart(asked),
    guard(guarded) {
      const { stopping, announced } = guarded;
      const served = guarded.life;
      life = served;
      ready.resolve(guarded);
      const stop = async (reason: string) => {
        using _ = keepAwake(); // the port closes before the store does
        stopping.abort(new Error(reason));
        await handover.stop();
        const daemon = await served.daemon().catch(() => undefined); // it was a standby, or could not start
        await announced().catch(() => undefined); // it is stopping anyway
        await removeDaemonFile(home, process.pid);
        await daemon?.shutdown(reason);
      };
      return guardProcess({ stop, drain: served.drain, handover, log });
    },
  };
}

interface ProcessParts {
  stop(reason: string): Promise<void>;
  drain(): void;
  handover: Handover;
  log: Log;
}

/** An unhandled fault ends the process, because its state is unknown. */
function guardProcess({ stop, drain, handover, log }: ProcessParts): (why: string, code: number) => void {
  const onSignal = createStopSignals({ stop, exit: (code) => process.exit(code), clock: systemClock, log });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (!handover.forward(signal)) onSignal(signal);
    });
  process.on(DRAIN_SIGNAL, () => {
    if (!handover.forward(DRAIN_SIGNAL)) handover.drain(drain);
  });
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

/** A file that a service manager watches for the pid of the daemon, as PIDFile of systemd. */
const pidFileIn = (environment: Environment): string | undefined => environment.HEADGATE_PID_FILE || undefined;

export async function writePidFile(environment: Environment): Promise<void> {
  const file = pidFileIn(environment);
  if (file !== undefined) await writeFile(file, `${process.pid}\n`, { mode: 0o644 });
}
