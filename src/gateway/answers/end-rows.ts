import type { Step } from '../../agent/run/recorder.ts';
import type { Statement } from '../store/store.ts';

/**
 * Writes the final record of a run; refused when it has one. What its messages have, it does not repeat: from its first
 * step on, the text of the request, and the answer, except as data.
 */
export const endRun = (runId: string, ended: NonNullable<Step['ended']>, nowMs: number): Statement => {
  const { status, error, summary, output, output_errors } = ended;
  const answered =
    output === undefined && output_errors === undefined ? [] : [JSON.stringify({ output, output_errors })];
  const emptied = `json_set(request_json, '$.message', '')`;
  const request = answered.length > 0 ? `json_set(${emptied}, '$.answered', json(?))` : emptied;
  return {
    sql: `UPDATE runs SET status = ?, error = ?, summary = ?, ended_ms = ?,
            request_json = CASE WHEN started_ms IS NOT NULL AND json_valid(request_json)
              THEN ${request} ELSE request_json END
          WHERE run_id = ? AND ended_ms IS NULL`,
    parameters: [status, error ?? null, status === 'ok' ? null : summary.slice(0, 16_384), nowMs, ...answered, runId],
    expect: 1,
  };
};
