import type { Episode } from '../episodes.ts';
import type { CronEvidence, CronFinding, CronWrite, Span } from '../evidence.ts';
import { FreeTime } from '../free-time.ts';
import { gaps, longest, merged, within } from '../spans.ts';

/** A single scheduler takes over at once. Several look every 10 s, or a little later, and wait for a claim to expire. */
const LOOK_MS = 45_000;
const AT_ONCE_MS = 2_000;

const nameOf = ({ scheduledMs }: { scheduledMs: number }): string => new Date(scheduledMs).toISOString();

/** A process that has lost its claim on an occurrence writes nothing about it any more. */
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

/** A process that renewed its claim recently, or was able to, keeps the claim. */
export function* notRobbed(evidence: CronEvidence): Iterable<CronFinding> {
  const free = new FreeTime(evidence);
  const holders = new Map<string, CronWrite>();
  for (const write of evidence.writes) {
    const { jobId, what, atMs } = write;
    const key = `${jobId} ${write.scheduledMs}`;
    const before = holders.get(key);
    if (before && what === 'claim' && isThere(before, atMs, { free, leaseMs: evidence.leaseMs })) {
      yield { jobId, what: `${write.owner} took ${nameOf(write)} from ${before.owner}, which was alive` };
    }
    if (what === 'end' || what === 'postpone') holders.delete(key);
    else if (what !== 'settle') holders.set(key, write);
  }
}

/** `last` is its last renewal. */
function isThere(last: CronWrite, atMs: number, { free, leaseMs }: { free: FreeTime; leaseMs: number }): boolean {
  const lately = { fromMs: Math.max(0, atMs - leaseMs - LOOK_MS), toMs: atMs };
  const isAway = (span: Span) => within(free.awayOf(last.owner), span).length > 0;
  if (leaseMs === 0) return !isAway({ fromMs: atMs - 1, toMs: atMs }) && !isAway({ fromMs: atMs, toMs: atMs + 1 });
  if (atMs - last.atMs < leaseMs) return true;
  return last.atMs < lately.fromMs && !isAway(lately) && within(free.blocked, lately).length === 0;
}

/** Another process takes over the claims of a process that died or was stopped. */
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

/** When its owner was absent for longer than a takeover may take. */
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

/** The periods in which another process was present. */
function presence(other: Span & { owner: string }, left: Span, free: FreeTime): number {
  if (other.toMs <= left.fromMs || other.fromMs >= left.toMs) return 0;
  return longest(gaps(merged([...within(free.awayOf(other.owner), left), ...within(free.blocked, left)]), left));
}
