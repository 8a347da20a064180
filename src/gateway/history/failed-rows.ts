import type { MessageFailure } from '../../../protocol/run-outcome.ts';
import type { Statement } from '../store/store.ts';

interface FailedRun {
  wsId: string;
  runId: string;
}

/** Marks the message of a run that ended without an answer, and what the model was told for this message alone. */
export const markFailed = (run: FailedRun, failed: MessageFailure): Statement[] =>
  [lastAsked, toldForIt].map((which) => ({
    sql: `${MARK} AND ${which}`,
    parameters: [JSON.stringify(failed), run.wsId, run.runId],
  }));

/** Skips damaged messages, because a new checksum would make them look intact. */
const MARK = `UPDATE messages SET body_json = json_set(body_json, '$.failed', json(?1)),
    checksum = message_checksum(ws_id, seq, run_id, json_set(body_json, '$.failed', json(?1)), created_ms)
  WHERE ws_id = ?2 AND run_id = ?3 AND checksum = message_checksum(ws_id, seq, run_id, body_json, created_ms)`;

const lastAsked = `seq = (
    SELECT seq FROM messages WHERE ws_id = ?2 AND run_id = ?3 AND CASE WHEN json_valid(body_json) THEN
      json_extract(body_json, '$.role') = 'user' AND json_type(body_json, '$.environment') IS NULL END
    ORDER BY seq DESC LIMIT 1
  )`;

/**
 * The schema of its answer, memories that may help with it, and reminders of them: after another message, they would seem to be
 * about that one.
 * Everything else that the model was told is true without the message, too.
 */
const toldForIt = `seq > COALESCE((
    SELECT seq FROM messages WHERE ws_id = ?2 AND run_id <> ?3 ORDER BY seq DESC LIMIT 1
  ), 0) AND CASE WHEN json_valid(body_json) THEN COALESCE(
    json_type(body_json, '$.environment.outputOf'), json_type(body_json, '$.environment.memories'),
    json_type(body_json, '$.environment.nudge')
  ) IS NOT NULL END`;
