import { microCostOf } from '../../agent/providers/prices/cost.ts';
import type { Step } from '../../agent/run/recorder.ts';
import { toDay } from '../../day.ts';
import type { RunRecord } from '../runs/run-record.ts';
import type { Statement, Store } from '../store/store.ts';
import { hourOf } from './usage-rows.ts';

type Reserved = NonNullable<Step['reserved']>;

/** Stores that a model is called, in the step before the call. */
export function reserve(
  run: Pick<RunRecord, 'runId' | 'wsId' | 'principal'>,
  { expected, model }: Reserved,
  nowMs: number,
): Statement {
  const { promptTokens, completionTokens } = expected;
  return {
    sql: `INSERT INTO reservations (run_id, ws_id, principal, model, day, input, output, micro_cost, unpriced, hour)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (run_id) DO UPDATE SET ws_id = excluded.ws_id, principal = excluded.principal, model = excluded.model,
        day = excluded.day, input = excluded.input, output = excluded.output, micro_cost = excluded.micro_cost,
        unpriced = excluded.unpriced, hour = excluded.hour`,
    parameters: [
      run.runId,
      run.wsId,
      run.principal,
      `${model.provider}/${model.modelId}`,
      toDay(nowMs),
      promptTokens,
      completionTokens,
      model.price ? microCostOf(expected, model.price) : 0,
      model.price ? null : 1,
      hourOf(nowMs),
    ],
  };
}

/** In the unit that stores the usage of the call. */
export const forgetReservation = (runId: string): Statement => ({
  sql: 'DELETE FROM reservations WHERE run_id = ?',
  parameters: [runId],
});

/**
 * Counts calls whose usage never arrived, because they broke off or the daemon was killed: as their length lets expect, or
 * like the average call of their model on that day, if that is more. Does nothing for a run without such a call. A call of a
 * sub-agent is charged to its run. `runIds`: of runs and sub-agents.
 */
export function chargeBrokenOff(runIds: readonly string[]): Statement[] {
  return runIds.length === 0 ? [] : charge(`run_id IN (${runIds.map(() => '?').join(', ')})`, runIds);
}

/** At a start: the calls that the previous process of this machine was waiting for. */
export function chargeAllBrokenOff({ machine }: Pick<Store, 'machine'>): Statement[] {
  if (machine !== null) return charge('ws_id IN (SELECT ws_id FROM workstreams WHERE machine = ?)', [machine]);
  return charge('ws_id NOT IN (SELECT ws_id FROM workstreams WHERE machine IS NOT NULL)', []);
}

function charge(which: string, parameters: readonly string[]): Statement[] {
  return [
    { sql: `${CHARGE_SQL} WHERE ${which}) AS c GROUP BY c.charged_to, c.model, c.day ${ADD_SQL}`, parameters },
    { sql: `DELETE FROM reservations WHERE ${which}`, parameters },
  ];
}

const averageOf = (column: string): string =>
  `coalesce((SELECT cast(sum(u.${column}) AS bigint) / cast(sum(u.turns) AS bigint) FROM usage u
    WHERE u.day = r.day AND u.model = r.model AND u.turns > 0), 0)`;

const INPUT = `max(r.input, ${averageOf('input')})`;
const OUTPUT = `max(r.output, ${averageOf('output')})`;

/** The calls of one run in one row: PostgreSQL refuses two changes of a row in one statement. */
const CHARGE_SQL = `INSERT INTO usage (run_id, model, day, ws_id, principal, turns, input, cache_read, cache_write, output,
    reasoning, micro_cost, unpriced, estimated, hour)
  SELECT c.charged_to, c.model, c.day, max(c.ws_id), max(c.principal), 0, sum(c.input), 0, 0, sum(c.output), 0,
    sum(c.micro_cost), sum(c.unpriced * (c.input + c.output)), sum(c.input + c.output), max(c.hour)
  FROM (SELECT coalesce((SELECT a.run_id FROM sub_agents a WHERE a.agent_id = r.run_id), r.run_id) AS charged_to,
    r.model, r.day, r.ws_id, r.principal, ${INPUT} AS input, ${OUTPUT} AS output,
    max(r.micro_cost, ${averageOf('micro_cost')}) AS micro_cost, coalesce(r.unpriced, 0) AS unpriced, r.hour
  FROM reservations r`;

const ADD_SQL = `ON CONFLICT (run_id, model, day) DO UPDATE SET input = usage.input + excluded.input,
  output = usage.output + excluded.output, micro_cost = usage.micro_cost + excluded.micro_cost,
  unpriced = usage.unpriced + excluded.unpriced, estimated = usage.estimated + excluded.estimated`;
