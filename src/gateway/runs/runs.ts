import { GatewayError } from '../../../protocol/errors.ts';
import type { Attachment } from '../../../protocol/stream-events.ts';
import { StepOutdated } from '../../agent/run/recorder.ts';
import type { Ids } from '../../ids.ts';
import type { Tracing } from '../../tracing.ts';
import { reserveAgain } from '../attachments/attachment-rows.ts';
import type { Claim } from '../attachments/claim.ts';
import type { NewCut } from '../cuts/new-cut.ts';
import { lesserOf, type Sender } from '../rights.ts';
import { DAEMON, type Viewer } from '../sharing/perception.ts';
import type { RunTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, UnitRefused } from '../store/store.ts';
import type { SystemEvents, TakenEvents } from '../wake/system-events.ts';
import { MAIN } from '../workstreams/session-keys.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import type { NewRun, RunHandle, RunRecord, RunRequest, RunResult } from './run-record.ts';
import { LOST_REQUEST, requestOf } from './run-rows.ts';

export interface AcceptOptions extends Sender {
  message: string;
  /** The caller's name for the message; becomes the run's id unless that is taken. */
  key?: string;
  source: RunRecord['source'];
  request?: Omit<RunRequest, 'message' | 'rights' | 'sender' | 'attachments'>;
  /** Files of the message; released if the run is not accepted. */
  claim?: Claim | undefined;
  /** Sends a message again in place of an earlier one, with its files. The cut belongs to the instance of the workstream. */
  again?: { cut: NewCut; attachments: Attachment[] };
  /** Statements to commit together with the acceptance. `to` is the workstream as it is loaded now. */
  also?(runId: string, to: Workstream): Statement[];
}

/** Who looks for a run. */
interface Seeker {
  principal: string;
  viewer: Viewer;
  wsId?: string;
}

interface RunsDeps {
  store: Store;
  workstreams: Pick<Workstreams, 'isStored' | 'get'>;
  ids: Ids;
  queued: Queued;
  tracing?: Pick<Tracing, 'current'> | undefined;
}

type Queued = Pick<SystemEvents, 'take'>;
/** Passes the run to its workstream. */
type Take<H extends RunHandle | undefined> = (to: Workstream, run: NewRun) => Promise<H>;

/** Accepts runs and finds them again: in memory while they run, afterwards in the store. */
export class Runs {
  readonly #store: Store;
  readonly #ids: Ids;
  readonly #queued: Queued;
  readonly #tracing: Pick<Tracing, 'current'> | undefined;
  readonly #workstreams: RunsDeps['workstreams'];
  readonly #live = new Map<string, RunHandle>();

  constructor(deps: RunsDeps) {
    this.#store = deps.store;
    this.#workstreams = deps.workstreams;
    this.#ids = deps.ids;
    this.#queued = deps.queued;
    this.#tracing = deps.tracing;
  }

  /** Starts the run, or queues it until the workstream is free. Throws BUSY for more than ten queued runs. */
  accept(workstream: Workstream, options: AcceptOptions): Promise<RunHandle> {
    return this.#withClaim(workstream, options, (to, run) => to.accept(run));
  }

  /** Undefined when the workstream is busy. */
  acceptIfIdle(workstream: Workstream, options: AcceptOptions): Promise<RunHandle | undefined> {
    return this.#withClaim(workstream, options, (to, run) => to.acceptIfIdle(run));
  }

  async #withClaim<H extends RunHandle | undefined>(
    workstream: Workstream,
    options: AcceptOptions,
    take: Take<H>,
  ): Promise<H> {
    const { claim } = options;
    if (!claim) return this.#accept(workstream, options, take);
    let handle: H | undefined;
    try {
      handle = await this.#accept(workstream, options, take);
      return handle;
    } catch (error) {
      throw claim.attachments.length > 0 && isLostRace(error) ? takenMeanwhile() : error;
    } finally {
      if (handle) claim.settle();
      else await claim.abandon();
    }
  }

  async #accept<H extends RunHandle | undefined>(found: Workstream, options: AcceptOptions, take: Take<H>): Promise<H> {
    const { principal, key, source, also, claim, again } = options;
    const { wsId } = found.data;
    const traced = tracedBy(this.#tracing);
    const runId = await this.#freeId(key);
    const attachments = claim?.attachments ?? again?.attachments ?? [];
    let workstream = found;
    // From here to `take`, nothing waits, so it is not unloaded in between.
    while (workstream.isUnloaded && !again) workstream = await this.#workstreams.get(wsId, DAEMON);
    const handle = await this.#withQueued(workstream, (queued) =>
      take(workstream, {
        runId,
        principal,
        ...(key !== undefined && { runKey: key }),
        source,
        request: { ...toRequest(options, queued), ...(attachments.length > 0 && { attachments }), ...traced },
        also: [
          ...(key === undefined ? [] : [releaseKey(key, { principal, wsId })]),
          ...(also?.(runId, workstream) ?? []),
          ...(claim?.statements(runId) ?? []),
          ...(again?.attachments ?? []).map(({ attachment_id }) => reserveAgain(wsId, attachment_id, runId)),
          ...(queued?.statements ?? []),
        ],
        cut: again?.cut,
      }),
    );
    if (handle) this.track(handle);
    return handle;
  }

  /** Adds the texts queued for the main session's next turn; they stay queued if the turn is not accepted. */
  async #withQueued<H extends RunHandle | undefined>(
    { data }: Workstream,
    accept: (queued: TakenEvents | undefined) => Promise<H>,
  ): Promise<H> {
    const queued = data.sessionKey === MAIN ? this.#queued.take() : undefined;
    let handle: H | undefined;
    try {
      handle = await accept(queued);
      return handle;
    } finally {
      if (!handle) queued?.putBack();
    }
  }

  track(handle: RunHandle): void {
    const { runId } = handle.run;
    this.#live.set(runId, handle);
    void handle.ended.then(() => this.#live.delete(runId));
  }

  /**
   * Finds a run by its id or by its idempotency key. Only the caller's own runs, in workstreams that the caller
   * perceives, and in one session if `wsId` is given.
   */
  async find(runId: string, by: Seeker): Promise<RunHandle | undefined> {
    const found = await this.#find(runId, by);
    return found && (await this.#workstreams.isStored(found.run.wsId, by.viewer)) ? found : undefined;
  }

  async #find(runId: string, by: Omit<Seeker, 'viewer'>): Promise<RunHandle | undefined> {
    const live = this.#liveOf(runId, by);
    if (live) return live;
    const row = await this.#read(runId, by);
    if (!row) return undefined;
    const begun = this.#liveOf(runId, by); // stored while the row was read
    if (begun) return begun;
    const run = toRecord(row);
    const { steeredInto: into } = run.request;
    return into === undefined ? { run, ended: Promise.resolve(toResult(row)) } : this.#follow(run, into);
  }

  /** Whether a message was dropped before it was sent, so that its key may send it again. */
  async wasTakenBack(runId: string | undefined): Promise<boolean> {
    if (runId === undefined) return false;
    const dropped = this.#store.db
      .selectFrom('runs')
      .select('run_id')
      .where('run_id', '=', runId)
      .where('status', '=', 'cancelled')
      .where('started_ms', 'is', null);
    return (await dropped.executeTakeFirst()) !== undefined;
  }

  /** A message that was given to another run ends with that run. */
  async #follow(run: RunRecord, into: string): Promise<RunHandle> {
    const stored = this.#store.db.selectFrom('runs').selectAll().where('run_id', '=', into);
    const row = this.#live.has(into) ? undefined : await stored.executeTakeFirst();
    const ended = this.#live.get(into)?.ended ?? (row && Promise.resolve(toResult(row)));
    if (!ended) throw new GatewayError('NOT_FOUND', 'unknown runId'); // its workstream was deleted meanwhile
    return { run, ended: ended.then((result) => ({ ...result, run_id: run.runId })) };
  }

  #liveOf(runId: string, by: Omit<Seeker, 'viewer'>): RunHandle | undefined {
    const named = this.#live.get(runId);
    return named && isTheirs(named.run, by) ? named : this.#liveByKey(runId, by);
  }

  #liveByKey(key: string, { principal, wsId }: { principal: string; wsId?: string }): RunHandle | undefined {
    for (const handle of this.#live.values()) {
      const { run } = handle;
      if (run.runKey === key && run.principal === principal && (wsId ?? run.wsId) === run.wsId) return handle;
    }
    return undefined;
  }

  /** An id wins over a key. Each is looked up by its own index: together, all runs of the caller would be read. */
  async #read(runId: string, { principal, wsId }: { principal: string; wsId?: string }): Promise<RunTable | undefined> {
    const theirs = this.#store.db
      .selectFrom('runs')
      .selectAll()
      .where('principal', '=', principal)
      .$if(wsId !== undefined, (query) => query.where('ws_id', '=', wsId ?? ''));
    const byId = await theirs.where('run_id', '=', runId).executeTakeFirst();
    return byId ?? theirs.where('run_key', '=', runId).orderBy('accepted_ms', 'desc').limit(1).executeTakeFirst();
  }

  async #freeId(key: string | undefined): Promise<string> {
    if (key === undefined || this.#live.has(key)) return this.#ids.id('run');
    const taken = await this.#store.db.selectFrom('runs').select('run_id').where('run_id', '=', key).executeTakeFirst();
    return taken ? this.#ids.id('run') : key;
  }
}

const toRequest = (
  { message, rights, sender, request }: AcceptOptions,
  queued: TakenEvents | undefined,
): Omit<RunRequest, 'attachments'> => ({
  ...request,
  message: queued ? `${message}\n\n${queued.text}` : message,
  rights: queued ? lesserOf(rights, queued.rights) : rights,
  ...(sender !== undefined && { sender }),
  ...(queued?.taint && { taint: queued.taint }),
});

function tracedBy(tracing: Pick<Tracing, 'current'> | undefined): Pick<RunRequest, 'traceparent'> {
  const traceparent = tracing?.current();
  return traceparent === undefined ? {} : { traceparent };
}

const isLostRace = (error: unknown) => error instanceof UnitRefused || error instanceof StepOutdated;

const takenMeanwhile = () =>
  new GatewayError('CONFLICT', 'Another message uses one of these attachments; nothing was sent', {
    details: { reason: 'attachments_busy' },
  });

/**
 * Frees a key that is used again (by another method, or after its answer expired), so that it identifies the newer run.
 */
const releaseKey = (key: string, { principal, wsId }: { principal: string; wsId: string }): Statement =>
  statementOf(
    build
      .updateTable('runs')
      .set({ run_key: null })
      .where('principal', '=', principal)
      .where('ws_id', '=', wsId)
      .where('run_key', '=', key),
  );

const isTheirs = (run: RunRecord, { principal, wsId }: { principal: string; wsId?: string }): boolean =>
  run.principal === principal && (wsId === undefined || run.wsId === wsId);

const toRecord = (row: RunTable): RunRecord => ({
  runId: row.run_id,
  wsId: row.ws_id,
  principal: row.principal,
  source: row.source,
  request: requestOf(row) ?? LOST_REQUEST,
  epoch: row.epoch,
  acceptedMs: row.accepted_ms,
  ...(row.started_ms !== null && { startedMs: row.started_ms }),
});

function toResult(row: RunTable): RunResult {
  if (row.status === 'queued' || row.status === 'running') {
    throw new GatewayError('UNAVAILABLE', 'That run belongs to another daemon'); // all unfinished runs of this daemon are in memory
  }
  return {
    run_id: row.run_id,
    status: row.status,
    summary: row.summary ?? '',
    endedMs: row.ended_ms ?? 0,
    ...requestOf(row)?.answered,
    ...(row.error !== null && { error: row.error }),
    ...(row.started_ms !== null && { startedMs: row.started_ms }),
  };
}
