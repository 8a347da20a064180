import { writeFile } from 'node:fs/promises';
import { keepAwake, systemClock } from '../../clock.ts';
import type { Environment } from '../../environment.ts';
import { EXIT } from '../../exit-codes.ts';
import { removeDaemonFile } from '../../home/daemon-file.ts';
import type { Log } from '../../log.ts';
import type { Daemon } from '../daemon-options.ts';
import { collectGarbage } from '../garbage.ts';
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

/** Starts the daemon again on a port, and tells why. */
type StartAgain = (failure: string, port: number) => Promise<Daemon>;

/** The process of a daemon: it ends by signals and by faults, and another one can take over. */
interface DaemonProcess {
  restart: Handover['restart'];
  /** From now on, signals stop the daemon, even while it starts. */
  guard(starting: Promise<Daemon>, startAgain: StartAgain): void;
}

export function createDaemonProcess({ home, log, asked }: DaemonProcessDeps): DaemonProcess {
  const ready = Promise.withResolvers<{ daemon: Promise<Daemon>; startAgain: StartAgain }>();
  const handover = createHandover({
    async startSuccessor(signal) {
      const { daemon } = await ready.promise;
      const descriptor = (await daemon).descriptor();
      const words = [...process.execArgv, ...process.argv.slice(1)];
      const { execPath: program, env: environment } = process;
      return untilChecked(spawnSuccessor({ program, words, environment, descriptor, asked }), {
        clock: systemClock,
        signal,
      });
    },
    async stop() {
      const { daemon } = await ready.promise;
      await (await daemon).shutdown('the daemon is restarted', { lastAnswers: true });
    },
    async startAgain(why) {
      const state = await ready.promise;
      const { port } = await state.daemon;
      state.daemon = state.startAgain(why, port);
      await state.daemon.catch(async (error: unknown) => {
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
    guard(starting, startAgain) {
      const state = { daemon: starting, startAgain };
      ready.resolve(state);
      const stop = async (reason: string) => {
        using _ = keepAwake(); // the port closes before the store does
        await handover.stop();
        const daemon = await state.daemon;
        await removeDaemonFile(home, process.pid);
        await daemon.shutdown(reason);
      };
      guardProcess({ stop, handover, log });
    },
  };
}

interface Guarded {
  stop(reason: string): Promise<void>;
  handover: Handover;
  log: Log;
}

/** An unhandled fault ends the process, because its state is unknown. */
function guardProcess({ stop, handover, log }: Guarded): void {
  const onSignal = createStopSignals({ stop, exit: (code) => process.exit(code), clock: systemClock, log });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (!handover.forward(signal)) onSignal(signal);
    });
  const die = (err: unknown, message: string) => {
    log.error({ err }, message);
    process.exit(EXIT.failed);
  };
  process.on('uncaughtException', (error) => die(error, 'uncaught exception'));
  process.on('unhandledRejection', (reason) => die(reason, 'unhandled promise rejection'));
  process.stdout.on('error', () => undefined); // the reader of the banner may be gone
}

/** A file that a service manager watches for the pid of the daemon, as PIDFile of systemd. */
const pidFileIn = (environment: Environment): string | undefined => environment.HEADGATE_PID_FILE || undefined;

export async function writePidFile(environment: Environment): Promise<void> {
  const file = pidFileIn(environment);
  if (file !== undefined) await writeFile(file, `${process.pid}\n`, { mode: 0o644 });
}
