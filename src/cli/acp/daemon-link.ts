import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { openClient, resolveTarget, type Target, type TargetFlags } from '../connect.ts';

/** The daemon that an editor's sessions live in. */
export interface Daemon {
  client: GatewayClient;
  target: Target;
}

interface DaemonLinkDeps {
  flags: TargetFlags;
  around: Surroundings;
  version: string;
  /** Prints a line for people; not part of the protocol. */
  tell(line: string): void;
}

/** The connection to the daemon. */
export interface DaemonLink {
  /** Connects at the first call, and again if the connection has ended for good. Rejects if no daemon answers. */
  get(): Promise<Daemon>;
  close(): void;
}

/**
 * Connects only when a session needs it: an editor shows why a session cannot begin, but rarely why a program ended.
 */
export function createDaemonLink({ flags, around, version, tell }: DaemonLinkDeps): DaemonLink {
  let opening: Promise<Daemon> | undefined;
  const forget = () => {
    opening = undefined;
  };
  const open = async (): Promise<Daemon> => {
    const target = await resolveTarget(flags, around);
    const client = await openClient({ target, version }, (status) => {
      if (status.kind === 'waiting') tell('The connection to the daemon is lost; it is opened again.');
      if (status.kind !== 'closed') return;
      forget();
      if (status.error) tell(`The connection to the daemon has ended: ${status.error.message}`);
    });
    return { client, target };
  };
  return {
    get() {
      if (opening) return opening;
      const mine = open();
      opening = mine;
      mine.catch(() => {
        if (opening === mine) forget();
      });
      return mine;
    },
    close() {
      opening?.then(
        ({ client }) => client.close(),
        () => undefined,
      );
    },
  };
}
