import type { CronWrite, Span } from './evidence.ts';

/** An occurrence from its claim until its end or the wait for a retry. */
export interface Episode extends Span {
  jobId: string;
  scheduledMs: number;
  /** Its owners, in order. */
  claims: (Span & { owner: string; epoch: number })[];
}

/** By job, in the order of their claims. */
export const episodesOf = (writes: readonly CronWrite[]): Map<string, Episode[]> =>
  new Map([...Map.groupBy(writes, ({ jobId }) => jobId)].map(([jobId, ofJob]) => [jobId, listed(ofJob)]));

function listed(ofJob: readonly CronWrite[]): Episode[] {
  const open = new Map<number, Episode>();
  const all: Episode[] = [];
  for (const write of ofJob) {
    const before = open.get(write.scheduledMs);
    if (write.what === 'claim') {
      const episode = claimed(before, write);
      if (!before) all.push(episode);
      open.set(write.scheduledMs, episode);
    } else if (write.what === 'end' || write.what === 'postpone') {
      if (before) close(before, write.atMs);
      open.delete(write.scheduledMs);
    }
  }
  return all;
}

function claimed(before: Episode | undefined, { jobId, scheduledMs, owner, epoch, atMs }: CronWrite): Episode {
  const claim = { owner, epoch, fromMs: atMs, toMs: Number.POSITIVE_INFINITY };
  if (!before) return { jobId, scheduledMs, fromMs: atMs, toMs: Number.POSITIVE_INFINITY, claims: [claim] };
  close(before, atMs);
  before.claims.push(claim);
  before.toMs = Number.POSITIVE_INFINITY;
  return before;
}

function close(episode: Episode, atMs: number): void {
  episode.toMs = atMs;
  const last = episode.claims.at(-1);
  if (last) last.toMs = atMs;
}
