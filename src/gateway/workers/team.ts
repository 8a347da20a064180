import { labelWords } from '../../../protocol/cluster/machine-labels.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { missingLabels } from './can-own.ts';
import type { OpenHub } from './links/hub.ts';
import type { LeadLink } from './links/lead-link.ts';
import type { WaitingWorkstreams } from './waiting-workstreams.ts';

/** How this daemon works together with the others of its database. */
export type Machines = {
  openHub: OpenHub;
  /** Absent: it uses no bus. */
  isBusConnected?: () => boolean;
} & (
  | /** The active daemon, which gives workstreams to workers. */
  {
      role: 'lead';
      /** Whether workstreams move by themselves, so that the machines have about as many. */
      isBalancing: boolean;
    }
  | {
      role: 'worker';
      /** The active daemon, as the database names it now. */
      lead(): { process: string; publicKey: string } | undefined;
      leadLink: LeadLink;
      membership: Membership;
    }
);

/** Whether this daemon works together with the others. */
export interface Membership {
  /** Of a worker: it has joined the active daemon. */
  isJoined: boolean;
  /** Why not; undefined: it does, or has not tried yet. */
  trouble: string | undefined;
}

/** Which machines may get a new workstream. */
export interface Placement {
  /**
   * The worker that gets the next one; undefined: this daemon. Throws UNAVAILABLE if no machine has all these labels.
   * `isHereFirst`: a worker gets it only if this daemon does not have them.
   */
  choose(labels: readonly string[], options?: { isHereFirst?: boolean }): string | undefined;
  /** The workers that have joined. */
  machines(): readonly string[];
  /** Whether this worker has joined. */
  has(nodeId: string): boolean;
  /** Throws CONFLICT if this machine, which is this daemon or a worker that has joined, does not have all these labels. */
  requireLabels(nodeId: string, labels: readonly string[]): void;
}

/** Where workstreams are to run, and those that cannot run now. */
export interface Placing {
  placement: Placement;
  waiting: Pick<WaitingWorkstreams, 'list'>;
}

/** A machine that can get workstreams. */
export interface Candidate {
  nodeId: string;
  labels: readonly string[];
}

/** A daemon that gives nothing to others. */
export const aloneAt = (here: Candidate): Placing => ({
  placement: {
    choose(labels) {
      if (lacks(here, labels)) throw noMachine(labels, [here]);
      return undefined;
    },
    machines: () => [],
    has: () => false,
    requireLabels: (_, labels) => requireLabels(here, labels),
  },
  waiting: { list: async () => [] },
});

export const lacks = (machine: Candidate, labels: readonly string[]): boolean =>
  missingLabels(labels, machine.labels).length > 0;

export function requireLabels({ nodeId, labels: has }: Candidate, labels: readonly string[]): void {
  const missing = missingLabels(labels, has);
  if (missing.length === 0) return;
  throw new GatewayError('CONFLICT', `${nodeId} does not have the ${labelWords(missing)}.`, {
    details: { nodeId, missingLabels: missing },
  });
}

/** The answer for labels that no machine has, now. */
export function noMachine(labels: readonly string[], machines: readonly Candidate[]): GatewayError {
  const named = machines
    .slice(0, MOST_NAMED)
    .map(({ nodeId, labels: has }) => `${nodeId} (${has.length === 0 ? 'no labels' : has.join(', ')})`);
  const others = machines.length > MOST_NAMED ? ` and ${machines.length - MOST_NAMED} more` : '';
  return new GatewayError(
    'UNAVAILABLE',
    `No machine that runs workstreams has the ${labelWords(labels)}. There are: ${named.join(', ')}${others}.`,
    {
      details: {
        machineLabels: labels,
        machines: machines.map(({ nodeId, labels: has }) => ({ nodeId, labels: has })),
      },
      retryAfterMs: 5_000,
    },
  );
}

/** In the words of a refusal; its details have all. */
const MOST_NAMED = 20;
