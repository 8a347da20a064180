import type { Server } from 'node:http';
import type { StandbyServer } from '../../http/standby/standby-server.ts';
import { type ListenAddress, listen } from '../../listen.ts';
import type { DaemonOptions } from '../daemon-options.ts';

interface ListenDeps {
  /** Makes the server of an active daemon. */
  open(): Server;
  /** Its port is set once the server listens. */
  address: ListenAddress;
}

/**
 * The server of this daemon, which listens: at the socket of the standby that it was. A worker keeps that one, which forwards
 * clients to the active daemon.
 */
export async function listenAfter(
  standby: StandbyServer | undefined,
  { worker }: Pick<DaemonOptions, 'worker'>,
  { open, address }: ListenDeps,
): Promise<Server> {
  if (worker !== undefined && standby !== undefined) return standby.server;
  const server = open();
  address.port = await listen(server, { ...address, before: standby?.server });
  standby?.forwarder.close();
  standby?.server.closeAllConnections();
  return server;
}
