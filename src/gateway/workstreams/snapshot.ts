import { formatCursor } from '../../../protocol/cursor.ts';
import type { WorkstreamSnapshot } from '../../../protocol/methods/workstream.ts';
import type { HistoryMessage } from '../../../protocol/stream-events.ts';
import type { Models } from '../../agent/providers/model.ts';
import type { EventLog } from '../events/event-log.ts';
import { type Messages, toHistory } from './history.ts';
import type { Workstream } from './workstream.ts';

/** Messages of a first paint; older ones come by page. */
const FIRST_PAGE = 200;

/** A workstream at one place of its log: what came before, and the cursor to go on from. */
export interface Snapshots {
  /** Everything before the model turn in progress, the newest `limit` messages of it. */
  history(workstream: Workstream, limit: number): Promise<{ messages: HistoryMessage[]; truncated: boolean; after: number }>;
  take(workstream: Workstream): Promise<{ cursor: string; after: number; snapshot: WorkstreamSnapshot }>;
}

export function createSnapshots(deps: { messages: Messages; events: EventLog; models: Models }): Snapshots {
  const { messages, events, models } = deps;

  const history: Snapshots['history'] = async ({ data }, limit) => {
    // Both are read before the first await: the messages stand for exactly the events up to `after`.
    const after = data.turnStart?.afterOffset ?? events.bounds(data.wsId).last;
    const upTo = data.turnStart?.afterSeq ?? data.messageCount;
    const range = { after: data.contextAfterSeq, upTo, limit };
    const stored = await messages.page(data.wsId, range);
    const firstSeq = stored[0]?.seq ?? upTo + 1;
    return { messages: toHistory(stored), truncated: firstSeq > data.contextAfterSeq + 1, after };
  };

  return {
    history,
    async take(workstream) {
      const { data } = workstream;
      const pending = workstream.current?.pendingApproval();
      const status = data.status();
      const row = data.toRow();
      const current = models.current();
      const { messages: page, truncated, after } = await history(workstream, FIRST_PAGE);
      return {
        cursor: formatCursor({ epoch: events.epoch, offset: after }),
        after,
        snapshot: {
          workstream: row,
          model: data.modelAlias ?? current.modelId,
          workdir: data.workdir,
          messages: page,
          truncated,
          pendingApprovals: pending ? [pending] : [],
          ...(status && { status }),
        },
      };
    },
  };
}
