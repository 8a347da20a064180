import { type RawBuilder, sql } from 'kysely';
import type { Visibility } from '../../../protocol/methods/conversation/sharing.ts';
import type { Principal } from '../auth/principal.ts';

/** What decides who perceives a workstream. */
export interface Owned {
  /** A user; empty: the operator. */
  readonly ownerId: string;
  readonly visibility: Visibility;
}

/** A workstream that events are about. */
export type Watched = Owned & { readonly wsId: string };

export const toWatched = ({ wsId, ownerId, visibility }: Watched): Watched => ({ wsId, ownerId, visibility });

/** Someone who asks for workstreams, or receives their events: as much of a principal as decides what they perceive. */
export type Viewer = Pick<Principal, 'userId' | 'permissions'>;

/** The daemon itself, in work that nobody asked for. Never use it for the answer to a caller. */
export const DAEMON: Viewer = { permissions: new Set(['workstreams.all', 'workstreams.create', 'workstreams.close']) };

/** Someone of whom nothing is known: perceives what everyone does. */
export const ANYONE: Viewer = { permissions: new Set() };

/** What everyone uses together: the main session, those of jobs, and what the operator makes. */
export const OF_EVERYONE: Owned = { ownerId: '', visibility: 'shared' };

export const seesEverything = ({ permissions }: Viewer): boolean => permissions.has('workstreams.all');

/** The one rule of who perceives what (decision 62). To everyone else, a private workstream does not exist. */
export const mayPerceive = (viewer: Viewer, owned: Owned): boolean =>
  owned.visibility === 'shared' || mayShare(viewer, owned);

/**
 * As much as everyone perceives who perceives this workstream: the sight of texts that are written into its log, whoever
 * asks for them.
 */
export function sightInCommon({ ownerId, visibility }: Owned): Viewer {
  if (visibility === 'shared') return ANYONE;
  return ownerId === '' ? DAEMON : { userId: ownerId, permissions: ANYONE.permissions };
}

/** Who may change the visibility and the owner. */
export const mayShare = (viewer: Viewer, { ownerId }: Owned): boolean =>
  seesEverything(viewer) || (viewer.userId !== undefined && viewer.userId === ownerId);

/** Owner and visibility of what a viewer creates. What nobody in particular creates is everyone's. */
export const newlyOwned = (
  { userId }: Viewer,
  usual: { readonly visibility: Visibility },
  visibility?: Visibility | undefined,
): Owned => ({
  ownerId: userId ?? OF_EVERYONE.ownerId,
  visibility: visibility ?? (userId === undefined ? OF_EVERYONE.visibility : usual.visibility),
});

/** The same rule for rows of the table `workstreams`. */
export function perceivedBy(viewer: Viewer): RawBuilder<boolean> {
  if (seesEverything(viewer)) return sql<boolean>`true`;
  if (viewer.userId === undefined) return sql<boolean>`workstreams.visibility = 'shared'`;
  return sql<boolean>`(workstreams.visibility = 'shared' or workstreams.owner_id = ${viewer.userId})`;
}

/** The caller of a method, as a viewer. */
export const viewerOf = ({ principal }: { principal: Principal | undefined }): Viewer => principal ?? ANYONE;

/** Viewers with the same sight perceive the same workstreams. */
export const sightOf = (viewer: Viewer): string =>
  seesEverything(viewer) ? EVERYTHING : `user ${viewer.userId ?? ''}`;

/** The sight of those who perceive every workstream. */
export const EVERYTHING = 'everything';
