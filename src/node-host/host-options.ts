import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { LentCommand } from './lent-command.ts';
import type { NodeState } from './node-state.ts';

/** A node's identity, its commands and its gateway. */
export interface HostOptions {
  /** WebSocket address of the gateway. */
  gateway: string;
  name: string;
  version: string;
  /** New with each start, so that a gateway knows that what it was running before is lost. */
  processId: string;
  commands: readonly LentCommand[];
  state: NodeState;
  clock: Clock;
  log: Log;
  /** Prints a line for the person who started the node. */
  say(line: string): void;
}
