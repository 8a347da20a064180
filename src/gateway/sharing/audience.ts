import { ANYONE, DAEMON, EVERYTHING, mayPerceive, type Owned, sightOf, type Viewer } from './perception.ts';

/** Who receives an event. */
export interface Audience {
  includes(viewer: Viewer): boolean;
  /** The users for whom it may be another answer than for a stranger. */
  readonly owners: readonly string[];
  /** The same as data. */
  readonly terms: AudienceTerms;
}

/** Those who perceive a workstream as it is `now`, without those who did `before`; nothing: everyone. */
export interface AudienceTerms {
  readonly now?: Owned;
  readonly before?: Owned;
}

export const EVERYONE: Audience = { includes: () => true, owners: [], terms: {} };

/** All who perceive the workstream. */
export function audienceOf({ ownerId, visibility }: Owned): Audience {
  if (visibility === 'shared') return EVERYONE;
  const now = { ownerId, visibility };
  return { includes: (viewer) => mayPerceive(viewer, now), owners: ownersOf(now), terms: { now } };
}

/** Those who perceive it now and did not before. */
export const gaining = (before: Owned, now: Owned): Audience => ({
  includes: (viewer) => mayPerceive(viewer, now) && !mayPerceive(viewer, before),
  owners: ownersOf(before, now),
  terms: { now: copied(now), before: copied(before) },
});

const copied = ({ ownerId, visibility }: Owned): Owned => ({ ownerId, visibility });

export function audienceFrom({ now, before }: AudienceTerms): Audience {
  if (now === undefined) return EVERYONE;
  return before === undefined ? audienceOf(now) : gaining(before, now);
}

const ownersOf = (...owned: Owned[]): string[] => [
  ...new Set(owned.map(({ ownerId }) => ownerId).filter((ownerId) => ownerId !== '')),
];

/**
 * Counts events for the viewers of each sight, also while none of them is connected, so that a client that comes later
 * sees no gap. Costs nothing for the sights whose events are those that strangers get, too.
 */
export class SightCounts {
  #strangers = 0;
  /** How many more, or fewer, than strangers. */
  readonly #others = new Map<string, number>();

  add({ includes, owners }: Audience): void {
    const base = Number(includes(ANYONE));
    this.#strangers += base;
    this.#adjust(EVERYTHING, Number(includes(DAEMON)) - base);
    for (const userId of owners) {
      const viewer = { userId, permissions: ANYONE.permissions };
      this.#adjust(sightOf(viewer), Number(includes(viewer)) - base);
    }
  }

  of(sight: string): number {
    return this.#strangers + (this.#others.get(sight) ?? 0);
  }

  #adjust(sight: string, by: number): void {
    if (by !== 0) this.#others.set(sight, (this.#others.get(sight) ?? 0) + by);
  }
}
