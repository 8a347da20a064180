import { setImmediate as nextTurn } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '../../clock.ts';
import type { Store } from '../store/store.ts';

const JOBS_PER_TURN = 500;
const HEX = /[0-9a-f]{32,}/g;
/** Before an id, an escape of JSON such as `\f` or `\u001b` looks like a part of it. */
const LONGEST_ESCAPE = 8;
/** A job is stored at most so long after the time that its row has as its last change. */
const STORED_WITHIN_MS = 60_000;

/** A workstream that no job names. */
export interface UnnamedInJobs {
  /** For the unit that relies on it: no job has been changed since so that it names the row of `workstreams`. */
  still: RawBuilder<boolean>;
}

interface NamedDeps {
  store: Pick<Store, 'db'>;
  clock: Pick<Clock, 'now'>;
}

/**
 * The workstreams that the definitions of jobs name. All jobs are read once, because searching them for each workstream
 * would take minutes where there are thousands of both.
 */
export class NamedInJobs {
  readonly #deps: NamedDeps;
  #named: ReadonlySet<string> = new Set();
  #readMs = Number.POSITIVE_INFINITY;

  constructor(deps: NamedDeps) {
    this.#deps = deps;
  }

  /** Undefined if a job names it. */
  async unless(wsId: string): Promise<UnnamedInJobs | undefined> {
    // Changes of jobs are found by their time, so the jobs are read again if the clock was set back.
    if (this.#deps.clock.now() < this.#readMs) await this.#read();
    return this.#named.has(wsId) ? undefined : { still: isUnnamedSince(this.#readMs - STORED_WITHIN_MS) };
  }

  async #read(): Promise<void> {
    const { store, clock } = this.#deps;
    this.#readMs = clock.now();
    const named = new Set<string>();
    const jobs = store.db.selectFrom('cron_jobs').select(['job_id', 'definition_json']).orderBy('job_id');
    for (let last = ''; ; await nextTurn()) {
      const page = await jobs.where('job_id', '>', last).limit(JOBS_PER_TURN).execute();
      for (const { definition_json: json } of page) for (const id of idsIn(json)) named.add(id);
      last = page.at(-1)?.job_id ?? last;
      if (page.length < JOBS_PER_TURN) break;
    }
    this.#named = named;
  }
}

function* idsIn(json: string): Generator<string> {
  for (const [hex] of json.matchAll(HEX))
    for (let at = 0; at <= LONGEST_ESCAPE && at + 32 <= hex.length; at += 1) yield hex.slice(at, at + 32);
}

const isUnnamedSince = (sinceMs: number) => sql<boolean>`not exists (select 1 from cron_jobs j
  where j.updated_ms >= ${sinceMs} and instr(j.definition_json, workstreams.ws_id) > 0)`;
