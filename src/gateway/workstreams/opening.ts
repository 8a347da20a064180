import type { Step } from '../../agent/run/recorder.ts';
import { consume } from '../attachments/attachment-rows.ts';
import type { Statement } from '../store/store.ts';
import type { RunRecord } from './run-record.ts';

/** The first step of a run: its message is in the conversation, and so are the files that were reserved for it. */
export function openingOf({ runId, source, request }: RunRecord): { step: Step; statements: Statement[] } {
  const { message, attachments } = request;
  const files = attachments && { attachments };
  return {
    step: {
      events: [{ type: 'user_turn', message, run_id: runId, source, ...files }],
      messages: [{ role: 'user', content: message, ...files }],
      journal: [{ kind: 'started' }],
    },
    statements: attachments ? [consume(runId, attachments.length)] : [],
  };
}
