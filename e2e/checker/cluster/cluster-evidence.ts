import type { Evidence } from '../evidence.ts';

/** What was recorded while several daemons used one database. */
export interface ClusterEvidence {
  /** What clients saw and did, at all daemons, and what is stored. */
  story: Pick<Evidence, 'disk' | 'calls'>;
  writes: Write[];
  /** What followed each fault, at each daemon. */
  recoveries: Recovery[];
  ends: readonly ProcessEnd[];
  /** How each daemon calls itself at rest. */
  states: { machine: string; state: 'active' | 'standby' | 'none' }[];
}

/** Statements of one session in one table under one epoch. The database itself recorded and numbered them, in their transactions. */
export interface Write {
  first: number;
  last: number;
  /** Of the database; each belongs to one process. */
  session: string;
  /** The daemon whose connection it was. */
  machine: string;
  /** The daemon that held the lease at that moment. */
  owner: string;
  epoch: number;
  table: string;
}

export interface Recovery {
  round: number;
  faults: string;
  machine: string;
  /** How often a client had to ask this daemon, after the end of the fault, until it got on. */
  attempts: number;
  isServed: boolean;
}

export interface ProcessEnd {
  machine: string;
  code: number | null;
  /** The drill ended it, or told it to end. */
  isAsked: boolean;
  stderr: string;
}
