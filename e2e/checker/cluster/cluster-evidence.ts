import type { Evidence } from '../evidence.ts';

/** What was recorded while several daemons used one database. */
export interface ClusterEvidence {
  /** What clients saw and did, at all daemons, and what is stored. */
  story: Evidence;
  writes: Write[];
  /** Where clients created workstreams. */
  placements: Placement[];
  /** What followed each fault, at each daemon. */
  recoveries: Recovery[];
  ends: readonly ProcessEnd[];
  /** How each daemon calls itself at rest. */
  states: MachineState[];
}

/** Of workstreams that no worker has: their column `machine` is null. */
export const ACTIVE = 'active';

/** The owner of what the active daemon takes over from a worker that has gone, until it has taken it over. */
export const movingFrom = (worker: string): string => `moving ${worker}`;

/**
 * Statements of one session about one workstream in one table, while nothing changed about leases and owners. The database itself
 * recorded and numbered them, in their transactions.
 */
export interface Write {
  first: number;
  last: number;
  /** Of the database; each belongs to one process. */
  session: string;
  /** The daemon whose connection it was. */
  machine: string;
  /** The lease that this daemon needs: `daemon`, or the name of the worker. */
  lease: string;
  /** The daemon that held this lease at that moment, or `nobody`. */
  holder: string;
  epoch: number;
  /** Of all leases at that moment, by their names. */
  epochs: Record<string, number>;
  table: string;
  wsId: string;
  /** What the row of the workstream names as its machine: a worker, `ACTIVE`, or `movingFrom`; undefined: it has no row. */
  owner?: string;
}

export interface Placement {
  wsId: string;
  /** The machine that the answer named; `ACTIVE` for the active daemon. */
  machine: string;
}

export interface Recovery {
  round: number;
  faults: string;
  /** The daemon, or `all workstreams`. */
  machine: string;
  /** How often a client had to ask, after the end of the fault, until it got on. */
  attempts: number;
  /** How long that took. */
  tookMs: number;
  isServed: boolean;
}

export interface ProcessEnd {
  machine: string;
  code: number | null;
  /** The drill ended it, or told it to end. */
  isAsked: boolean;
  stderr: string;
}

export interface MachineState {
  machine: string;
  /** Started with `--worker`. */
  isWorker: boolean;
  state: 'active' | 'standby' | 'worker' | 'none';
}
