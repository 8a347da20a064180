import { given } from '../../bind.ts';
import { momentOf } from '../../iso.ts';

/** The query of a list of records about tool calls: see `recordQuery`. */
interface RecordQuery<Risk extends string> {
  ws_id?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  risk_level?: Risk | '' | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
}

/** The parameters of the method for such a list. */
export const toRecordParams = <Risk extends string>(query: RecordQuery<Risk>) => ({
  wsId: given(query.ws_id),
  sinceMs: momentOf(query.since),
  untilMs: momentOf(query.until),
  riskLevel: query.risk_level === '' ? undefined : query.risk_level,
  limit: query.limit,
  offset: query.offset,
});

/** The fields of requests behind these parameters. */
export const RECORD_FIELDS = { sinceMs: 'since', untilMs: 'until' } as const;
