import type { Episode } from '../episodes.ts';
import type { CronEvidence, CronFinding, CronWrite, Span } from '../evidence.ts';
import { FreeTime } from '../free-time.ts';
import { gaps, longest, merged, within } from '../spans.ts';

/** Who is alone takes over at once; others look every 10 s, or a little later, and want to have seen nothing for a while. */
const LOOK_MS = 45_000;
const AT_ONCE_MS = 2_000;

const nameOf = ({ scheduledMs }: { scheduledMs: number }): string => new Date(scheduledMs).toISOString();

/** Whoever has lost an occurrence to somebody else writes nothing of it any more, whatever it was about to. */
export function* newestWrites({ writes }: CronEvidence): Iterable<CronFinding> {
  const newest = new Map<string, CronWrite>();
  for (const write of writes) {
    const key = `${write.jobId} ${write.scheduledMs}`;
    if (write.what === 'claim') newest.set(key, write);
    const claim = newest.get(key);
    if (write.what === 'settle' || (claim?.epoch === write.epoch && claim.owner === write.owner)) continue;
    yield { jobId: write.jobId, what: `${write.owner} wrote the ${write.what} of ${nameOf(write)} without a claim` };
  }
}

/** Who has just said that it is there, or could have for a while, keeps what it has. */
export function* notRobbed(evidence: CronEvidence): Iterable<CronFinding> {
  const free = new FreeTime(evidence);
  const holders = new Map<string, CronWrite>();
  for (const write of evidence.writes) {
    const { jobId, what, atMs } = write;
    const key = `${jobId} ${write.scheduledMs}`;
    const before = holders.get(key);
    if (before && what === 'claim' && isThere(before, atMs, { free, leaseMs: evidence.leaseMs })) {
      yield { jobId, what: `${write.owner} took ${nameOf(write)} from ${before.owner}, who was there` };
    }
    if (what === 'end' || what === 'postpone') holders.delete(key);
    else if (what !== 'settle') holders.set(key, write);
  }
}

/** `last`: its last sign. */
function isThere(last: CronWrite, atMs: number, { free, leaseMs }: { free: FreeTime; leaseMs: number }): boolean {
  const lately = { fromMs: Math.max(0, atMs - leaseMs - LOOK_MS), toMs: atMs };
  const isAway = (span: Span) => within(free.awayOf(last.owner), span).length > 0;
  if (leaseMs === 0) return !isAway({ fromMs: atMs - 1, toMs: atMs }) && !isAway({ fromMs: atMs, toMs: atMs + 1 });
  if (atMs - last.atMs < leaseMs) return true;
  return last.atMs < lately.fromMs && !isAway(lately) && within(free.blocked, lately).length === 0;
}

/** What a process had claimed and does not go on with, because it died or was stopped, somebody else goes on with. */
export function* takenUp(evidence: CronEvidence): Iterable<CronFinding> {
  const free = new FreeTime(evidence);
  const limitMs = evidence.leaseMs === 0 ? AT_ONCE_MS : evidence.leaseMs + LOOK_MS;
  for (const jobId of new Set(evidence.writes.map((write) => write.jobId))) {
    for (const episode of free.episodesOf(jobId)) {
      for (const { owner, span } of orphaned(episode, { free, limitMs, endTrueMs: evidence.endTrueMs })) {
        const others = evidence.lives.filter((life) => life.owner !== owner);
        const leftMs = Math.max(0, ...others.map((other) => presence(other, span, free)));
        if (leftMs <= limitMs) continue;
        yield { jobId, what: `${owner} left ${nameOf(episode)} for ${Math.round(leftMs / 1000)} s` };
      }
    }
  }
}

interface Left {
  owner: string;
  span: Span;
}

/** When its owner was gone for longer than others may take. */
function orphaned(
  { claims }: Episode,
  { free, limitMs, endTrueMs }: { free: FreeTime; limitMs: number; endTrueMs: number },
): Left[] {
  return claims.flatMap(({ owner, fromMs, toMs }) =>
    within(free.awayOf(owner), { fromMs, toMs: Math.min(toMs, endTrueMs) })
      .filter((span) => span.toMs - span.fromMs > limitMs)
      .map((span) => ({ owner, span })),
  );
}

/** How long at a time somebody else was there. */
function presence(other: Span & { owner: string }, left: Span, free: FreeTime): number {
  if (other.toMs <= left.fromMs || other.fromMs >= left.toMs) return 0;
  return longest(gaps(merged([...within(free.awayOf(other.owner), left), ...within(free.blocked, left)]), left));
}
