import type { Effort, StreamEvent } from '../../../protocol/stream-events.ts';
import type { Message } from '../../agent/message.ts';
import type { Step } from '../../agent/run/recorder.ts';
import { consume } from '../attachments/attachment-rows.ts';
import type { Statement } from '../store/store.ts';
import type { RunRecord, RunRequest } from './run-record.ts';

/**
 * The first step of a run: adds its message to the conversation as number `seq`, with the files reserved for it. A run
 * keeps its model and effort, even if clients choose others meanwhile.
 */
export function firstStepOf(
  run: RunRecord,
  { seq, model, effort }: { seq: number; model: string | null; effort: Effort },
): { step: Step; statements: Statement[] } {
  const { runId, source, request, acceptedMs, startedMs = acceptedMs } = run;
  const { message, attachments } = request;
  const files = attachments && { attachments };
  return {
    step: {
      events: [
        { type: 'user_turn', message, run_id: runId, source, ...files, ...senderOf(run), seq, created_ms: startedMs },
      ],
      messages: [messageOf(request)],
      journal: [{ kind: 'started', model, effort }],
    },
    statements: attachments ? [consume(runId, attachments.length)] : [],
  };
}

/** Who sent the message of a run, and under which key. */
export const senderOf = ({ request: { sender }, runKey }: Pick<RunRecord, 'request' | 'runKey'>) => ({
  ...(sender !== undefined && { sender }),
  ...(runKey !== undefined && { client_send_ids: [runKey] }),
});

/** The events of a run, whose states name its user. */
export const actedBy = ({ request: { sender } }: Pick<RunRecord, 'request'>, events: readonly StreamEvent[] = []) =>
  sender === undefined
    ? events
    : events.map((event) => (event.type === 'ws_state' ? { ...event, acting_user_id: sender } : event));

/** The message of a run, as stored in the conversation. */
export const messageOf = (request: RunRequest): Message & { role: 'user' } => ({
  role: 'user',
  content: request.message,
  ...(request.attachments && { attachments: request.attachments }),
  ...(request.rights === 'approve' && { trusted: true }),
  ...originOf(request),
});

/** Where it came from, if no person wrote it. */
const originOf = ({ watch, sentBy, unattended, taint }: RunRequest) => ({
  ...(watch && { watch }),
  ...(sentBy && { sentBy }),
  ...(unattended && !watch && !sentBy && { unattended }),
  ...(taint && { taint }),
});
