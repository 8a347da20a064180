import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { endTrustOf } from '../coordinators/send-trust-rows.ts';
import { endRulesOf } from '../rules/rule-rows.ts';
import { setWorkstream } from '../runs/run-rows.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement } from '../store/store.ts';
import { toAlwaysColumns } from '../workstreams/always.ts';
import { alwaysEnded } from '../workstreams/announce-always-ends.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';

/**
 * Removes notes from just before the beginning, which nobody could see any more, and the token count of the previous
 * context.
 */
export const beginContext = (wsId: string, { after, cutCount }: { after: number; cutCount: number }): Statement[] => [
  setWorkstream(wsId, { context_after_seq: after, cut_count: cutCount, usage_json: null }),
  statementOf(build.deleteFrom('notes').where('ws_id', '=', wsId).where('after_seq', '=', after)),
];

/** Auto-approve ends with the conversation in which it was enabled. */
export function endAlways(data: WorkstreamData): { statements: Statement[]; events: StreamEvent[] } {
  const granted = [endRulesOf(data.wsId), endTrustOf(data.wsId)];
  if (!data.always) return { statements: granted, events: [] };
  const off = toAlwaysColumns(undefined);
  return {
    statements: [setWorkstream(data.wsId, off), ...granted],
    events: [data.settingsEvent(off), alwaysEnded('conversation')],
  };
}
