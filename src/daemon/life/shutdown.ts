import type { Server } from 'node:http';
import type { Gateway } from '../../gateway/gateway.ts';
import type { DaemonStore } from '../../gateway/store/daemon-store.ts';
import { closeServer } from '../../listen.ts';
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
}

/** Stops all parts, those that others need last. */
export const createShutdown = (
  { server, gateway, tracing, store, release }: Stoppable,
  { stopping, background }: Ongoing,
): Daemon['shutdown'] =>
  once(async (reason: string) => {
    server.close(); // no new connections
    stopping.abort(new Error(reason));
    await gateway.shutdown(reason);
    await closeServer(server);
    await background;
    await tracing?.close();
    await store.close();
    release();
  });
