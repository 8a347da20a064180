import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { LentCommand } from './lent-command.ts';
import type { NodeState } from './node-state.ts';

/** What a node is and lends, and to whom. */
export interface HostOptions {
  /** WebSocket address of the gateway. */
  gateway: string;
  name: string;
  version: string;
  commands: readonly LentCommand[];
  state: NodeState;
  clock: Clock;
  log: Log;
  /** Tells the person who started it. */
  say(line: string): void;
}
