import { microCostOf } from '../../agent/providers/prices/cost.ts';
import type { Step } from '../../agent/run/recorder.ts';
import { toDay } from '../../day.ts';
import type { RunRecord } from '../runs/run-record.ts';
import type { Statement } from '../store/store.ts';
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
 * Counts a call whose usage never arrived, because it broke off or the daemon was killed: as its length lets expect, or
 * like the average call of its model on that day, if that is more. Does nothing for a run without such a call.
 * `chargedTo`: the run of a sub-agent.
 */
export const chargeBrokenOff = (runId: string, chargedTo = runId): Statement[] => [
  { sql: `${CHARGE_SQL.replace('r.run_id', '?')} WHERE r.run_id = ? ${ADD_SQL}`, parameters: [chargedTo, runId] },
  forgetReservation(runId),
];

/** At a start: the calls that the previous process was waiting for. */
export const chargeAllBrokenOff = (): Statement[] => [
  { sql: `${CHARGE_SQL} WHERE true ${ADD_SQL}`, parameters: [] },
  { sql: 'DELETE FROM reservations', parameters: [] },
];

const averageOf = (column: string): string =>
  `coalesce((SELECT cast(sum(u.${column}) AS bigint) / cast(sum(u.turns) AS bigint) FROM usage u
    WHERE u.day = r.day AND u.model = r.model AND u.turns > 0), 0)`;

const INPUT = `max(r.input, ${averageOf('input')})`;
const OUTPUT = `max(r.output, ${averageOf('output')})`;

const CHARGE_SQL = `INSERT INTO usage (run_id, model, day, ws_id, principal, turns, input, cache_read, cache_write, output,
    reasoning, micro_cost, unpriced, estimated, hour)
  SELECT r.run_id, r.model, r.day, r.ws_id, r.principal, 0, ${INPUT}, 0, 0, ${OUTPUT}, 0,
    max(r.micro_cost, ${averageOf('micro_cost')}), coalesce(r.unpriced, 0) * (${INPUT} + ${OUTPUT}), ${INPUT} + ${OUTPUT}, r.hour
  FROM reservations r`;

const ADD_SQL = `ON CONFLICT (run_id, model, day) DO UPDATE SET input = usage.input + excluded.input,
  output = usage.output + excluded.output, micro_cost = usage.micro_cost + excluded.micro_cost,
  unpriced = usage.unpriced + excluded.unpriced, estimated = usage.estimated + excluded.estimated`;
