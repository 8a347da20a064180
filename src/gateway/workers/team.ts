import type { OpenHub } from './links/hub.ts';
import type { LeadLink } from './links/lead-link.ts';

/** How this daemon works together with the others of its database. */
export type Machines =
  /** The active daemon, which gives workstreams to workers. */
  | { role: 'lead'; openHub: OpenHub }
  | {
      role: 'worker';
      openHub: OpenHub;
      /** The active daemon, as the database names it now. */
      lead(): { process: string; publicKey: string } | undefined;
      leadLink: LeadLink;
    };

/** Which machines may get a new workstream. */
export interface Placement {
  /** The worker that gets the next one; undefined: the active daemon. */
  choose(): string | undefined;
  /** Whether this worker has joined. */
  has(nodeId: string): boolean;
}

/** The active daemon runs everything itself. */
export const ALL_HERE: Placement = { choose: () => undefined, has: () => false };
