import type { SteeredMessage, Step } from './recorder.ts';

/** The messages that people want the model to read at its next turn. */
export interface Steering {
  /** Takes them from the queue for a step. If `record` rejects, they wait again. */
  handOver(record: (messages: readonly SteeredMessage[]) => Promise<void>): Promise<void>;
}

type SteeredStep = Required<Pick<Step, 'events' | 'messages' | 'steered'>>;

/** The part of a step that adds the messages to the conversation, after message number `afterSeq`. */
export const steeredStep = (
  { runId, afterSeq, nowMs }: { runId: string; afterSeq: number; nowMs: number },
  steered: readonly SteeredMessage[],
): SteeredStep => ({
  events: steered.map(({ runId: steeredRunId, source, from, message: { content, attachments } }, index) => ({
    type: 'user_turn',
    message: content,
    run_id: runId,
    steered_run_id: steeredRunId,
    source,
    ...(attachments && { attachments }),
    ...from,
    seq: afterSeq + index + 1,
    created_ms: nowMs,
  })),
  messages: steered.map(({ message }) => message),
  steered,
});
