import { type Episode, episodesOf } from './episodes.ts';
import type { CronEvidence, SimRun, Span } from './evidence.ts';
import { gaps, merged, type Spans, within } from './spans.ts';

const ALWAYS: Span = { fromMs: 0, toMs: Number.POSITIVE_INFINITY };

/** When a process could have started a run, in true time. */
export class FreeTime {
  /** The machine slept, the store refused writes, or schedules were off. */
  readonly blocked: Spans;
  /** All schedulers were absent or full. */
  readonly nobody: Spans;
  readonly owners: readonly string[];
  readonly #episodes: ReadonlyMap<string, Episode[]>;
  readonly #away = new Map<string, Spans>();
  readonly #full = new Map<string, Spans>();

  constructor(evidence: CronEvidence) {
    const { blocked, lives, stalls, writes } = evidence;
    this.blocked = merged(blocked);
    this.#episodes = episodesOf(writes);
    this.owners = lives.map(({ owner }) => owner);
    const stallsOf = Map.groupBy(stalls, ({ owner }) => owner);
    const holdsOf = Map.groupBy(holds(evidence), ({ owner }) => owner);
    for (const { owner, ...life } of lives) {
      this.#away.set(owner, merged([...gaps([life], ALWAYS), ...(stallsOf.get(owner) ?? [])]));
      this.#full.set(owner, fullTimes(holdsOf.get(owner) ?? [], evidence.maxConcurrentRuns));
    }
    const somebody = this.owners.flatMap((owner) => gaps(merged(this.#kept(owner)), ALWAYS));
    this.nobody = gaps(merged(somebody), ALWAYS);
  }

  /** Before its start, after its end, or while stopped. */
  awayOf(owner: string): Spans {
    return this.#away.get(owner) ?? [];
  }

  fullOf(owner: string): Spans {
    return this.#full.get(owner) ?? [];
  }

  episodesOf(jobId: string): readonly Episode[] {
    return this.#episodes.get(jobId) ?? [];
  }

  /** The span in which an attempt started. */
  episodeOf({ jobId, scheduledMs, startMs = 0 }: SimRun): Episode | undefined {
    return this.episodesOf(jobId).findLast((one) => one.scheduledMs === scheduledMs && one.fromMs <= startMs);
  }

  /** When, in `whole`, nothing prevented a process from claiming an occurrence, or its owner from starting it. */
  windows({ jobId, episode }: { jobId: string; episode: Episode | undefined }, whole: Span, held: Spans = []): Span[] {
    const others = this.episodesOf(jobId).filter(
      (one) => one !== episode && one.fromMs < whole.toMs && one.toMs > whole.fromMs,
    );
    const unclaimed = { ...whole, toMs: Math.min(whole.toMs, episode?.fromMs ?? whole.toMs) };
    const obstacles = [
      ...others,
      ...held,
      ...within(this.blocked, whole),
      ...within(this.nobody, unclaimed),
      ...(episode?.claims ?? []).flatMap((claim) => within(merged(this.#kept(claim.owner)), claim)),
    ];
    return gaps(merged(obstacles), whole);
  }

  #kept(owner: string): Span[] {
    return [...this.awayOf(owner), ...this.fullOf(owner)];
  }
}

export interface Hold extends Span {
  owner: string;
  run: SimRun;
}

/** Which process worked on what, and until when; a process that has lost its run may learn of it late. */
export function holds({ runs, lives }: CronEvidence): Hold[] {
  const deaths = new Map(lives.map(({ owner, toMs }) => [owner, toMs]));
  return runs.flatMap((run) =>
    run.holds.map(({ owner, fromMs, toMs }) => {
      const diedMs = deaths.get(owner) ?? Number.POSITIVE_INFINITY;
      return { owner, run, fromMs, toMs: Math.min(toMs ?? Number.POSITIVE_INFINITY, diedMs) };
    }),
  );
}

function fullTimes(ofOwner: readonly Hold[], maxConcurrentRuns: number): Spans {
  return atOnce(ofOwner)
    .filter(({ count }) => count >= maxConcurrentRuns)
    .map(({ fromMs, toMs }) => ({ fromMs, toMs }));
}

/** The number of simultaneous spans. */
export function atOnce(spans: readonly Span[]): (Span & { count: number })[] {
  const lasting = spans.filter(({ fromMs, toMs }) => fromMs < toMs);
  const changes = lasting
    .flatMap(({ fromMs, toMs }) => [
      { atMs: fromMs, by: 1 },
      { atMs: toMs, by: -1 },
    ])
    .sort((a, b) => a.atMs - b.atMs || a.by - b.by);
  let count = 0;
  return changes.flatMap(({ atMs, by }, index) => {
    count += by;
    const toMs = changes[index + 1]?.atMs ?? Number.POSITIVE_INFINITY;
    return atMs < toMs ? [{ fromMs: atMs, toMs, count }] : [];
  });
}
