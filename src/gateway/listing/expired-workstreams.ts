import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { dailyWhileSteady } from '../../timing/steady-time.ts';
import type { AuditTrail } from '../audit/audit-trail.ts';
import type { LiveSettings } from '../live-settings.ts';
import { DELETED, hideDeleted, removeRows } from '../store/deletion.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, tookEffect } from '../store/store.ts';
import { hostedBy } from '../workers/elsewhere.ts';
import { NamedInJobs, type UnnamedInJobs } from './named-in-jobs.ts';

interface ExpiryDeps {
  store: Pick<Store, 'db' | 'commit' | 'machine'>;
  live: Pick<LiveSettings, 'session'>;
  trail: Pick<AuditTrail, 'statementOf'>;
  /** Some were removed. */
  onRemoved(): Promise<void>;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
  log: Log;
}

const DAY_MS = 86_400_000;
const PAGE = 100;

/** Deletes conversations that nobody has used for long, if the settings say so. */
export interface ExpiredWorkstreams {
  /** Sweeps once; stops between two of them when the signal aborts. Returns how many were deleted. */
  sweep(signal: AbortSignal): Promise<number>;
  /** Sweeps 15 minutes after the start and then daily, while the clock does not jump. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Deletes stored conversations whose last change is older than `session.retentionDays`. Those with a name stay, and so do
 * loaded ones, `main`, those of jobs, and those in which something is pending.
 */
export function createExpiredWorkstreams(deps: ExpiryDeps): ExpiredWorkstreams {
  const { live, onRemoved, clock, log } = deps;
  const sweep = async (signal: AbortSignal): Promise<number> => {
    const { retentionDays } = live.session;
    const removed = retentionDays === 0 ? 0 : await removeBefore(clock.now() - retentionDays * DAY_MS, deps, signal);
    if (removed > 0) await onRemoved();
    return removed;
  };
  const report = (removed: number) => {
    if (removed > 0) log.info({ removed }, 'old conversations were deleted');
  };
  const fail = (err: unknown) => log.warn({ err }, 'old conversations could not be deleted');
  return { sweep, run: (signal) => dailyWhileSteady(clock, signal, () => sweep(signal).then(report, fail)) };
}

/** Deletes the oldest first. Returns how many. */
async function removeBefore(beforeMs: number, deps: ExpiryDeps, signal: AbortSignal): Promise<number> {
  const { store, clock } = deps;
  const inJobs = new NamedInJobs({ store, clock });
  let removed = 0;
  let last = { updatedMs: -1, wsId: '' };
  for (;;) {
    const page = await readExpired(store, beforeMs, last);
    for (const { ws_id: wsId, updated_ms: updatedMs } of page) {
      const unnamed = await inJobs.unless(wsId);
      if (signal.aborted) return removed;
      if (unnamed && (await remove(wsId, { beforeMs, updatedMs, unnamed }, deps))) removed += 1;
      last = { updatedMs, wsId };
      await nextTurn(); // other work must not wait for all of them
    }
    if (page.length < PAGE) return removed;
  }
}

/** Stored, without a name, and nothing is pending in it: no run, question, message, watch or job of its own. */
const isExpired = (beforeMs: number) => sql<boolean>`loaded in (0, 2) and updated_ms < ${beforeMs} and alias is null
  and (session_key is null or (session_key like 'cron:%'
    and not exists (select 1 from cron_jobs j where j.job_id = substr(session_key, 6))))
  and (session_key is not null or generated_name = 'ws-' || substr(ws_id, 1, 4))
  and not exists (select 1 from runs r where r.status in ('queued', 'running') and r.ws_id = workstreams.ws_id)
  and not exists (select 1 from watches t where t.ws_id = workstreams.ws_id and (t.active = 1 or t.result_json is not null))`;

/** A page in the order of their last change, after the last one that was looked at. */
const readExpired = (
  store: Pick<Store, 'db' | 'machine'>,
  beforeMs: number,
  last: { updatedMs: number; wsId: string },
) =>
  store.db
    .selectFrom('workstreams')
    .select(['ws_id', 'updated_ms'])
    .where('updated_ms', '>=', last.updatedMs)
    .where('updated_ms', '<', beforeMs)
    .where((where) => where.or([where('updated_ms', '>', last.updatedMs), where('ws_id', '>', last.wsId)]))
    .where(isExpired(beforeMs))
    .where(hostedBy(store))
    .orderBy('updated_ms')
    .orderBy('ws_id')
    .limit(PAGE)
    .execute();

interface Expired {
  beforeMs: number;
  updatedMs: number;
  /** No job names it. */
  unnamed: UnnamedInJobs;
}

/** False if it is in use again. Its rows go in batches, and those that a crash leaves go with the next daily sweep. */
async function remove(
  wsId: string,
  { beforeMs, updatedMs, unnamed }: Expired,
  { store, trail, clock, ids }: ExpiryDeps,
): Promise<boolean> {
  const record = trail.statementOf({
    eventId: ids.id('aud'),
    atMs: clock.now(),
    userId: 'daemon',
    username: '',
    principal: 'daemon',
    action: 'sessions.expire',
    resourceType: 'sessions',
    resourceId: wsId,
    outcome: 'ok',
    detail: JSON.stringify({ updatedMs }),
    ipAddress: '',
  });
  const unit = { statements: [requireExpired(wsId, { beforeMs, unnamed }), ...hideDeleted(wsId), record] };
  if (!(await tookEffect(store.commit(unit)))) return false;
  await removeRows(store, wsId);
  return true;
}

/** Refuses the unit if the workstream has been loaded, renamed, used or named in a job since. Changes nothing. */
function requireExpired(wsId: string, { beforeMs, unnamed }: Omit<Expired, 'updatedMs'>): Statement {
  const same = build
    .updateTable('workstreams')
    .set(({ ref }) => ({ updated_ms: ref('updated_ms') }))
    .where('ws_id', '=', wsId)
    .where('loaded', '!=', DELETED)
    .where(isExpired(beforeMs))
    .where(unnamed.still);
  return statementOf(same, 1);
}
