import type { Server } from 'node:http';
import type { Clock } from '../../clock.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { DaemonStore } from '../../gateway/store/daemon-store.ts';
import { closePort, closeServer } from '../../listen.ts';
import { once } from '../../timing/once.ts';
import type { OpenTracing } from '../../tracing.ts';
import type { Daemon } from '../daemon-options.ts';

/** What a daemon holds until its end. */
export interface Held {
  store: DaemonStore;
  release(): void;
}

interface Stoppable extends Held {
  server: Server;
  gateway: Gateway;
  tracing: OpenTracing | undefined;
}

interface Ongoing {
  /** Ends event streams and background services. */
  stopping: AbortController;
  /** Settles when the background services have ended. */
  background: Promise<unknown>;
  clock: Clock;
}

/** A stop has little time, and runs must end in it, too. */
const LEAVE_MS = 800;

/** Stops all parts, those that others need last. */
export const createShutdown = (
  { server, gateway, tracing, store, release }: Stoppable,
  { stopping, background, clock }: Ongoing,
): Daemon['shutdown'] =>
  once(async (reason: string, { lastAnswers = false } = {}) => {
    await gateway.leave(LEAVE_MS);
    closePort(server, { lastAnswers });
    stopping.abort(new Error(reason));
    store.shared?.stopWaiting(); // runs that wait for the database could not stop in time
    await gateway.shutdown(reason);
    await closeServer(server, lastAnswers ? clock : undefined);
    await background;
    await tracing?.close();
    await store.close();
    release();
  });
