import type { RunOutcome } from '../../../protocol/run-outcome.ts';
import type { Step } from '../../agent/run/recorder.ts';
import type { RunRecord } from '../runs/run-record.ts';
import type { Statement } from '../store/store.ts';
import { insertDelivery } from './delivery-rows.ts';

const ANSWER = 'answer:';

/** The run whose answer a message of the outbox is. */
export const runAnsweredBy = (messageId: string): string | undefined =>
  messageId.startsWith(ANSWER) ? messageId.slice(ANSWER.length) : undefined;

/** Queues the answer for its destination together with the end of the run, so neither exists without the other. */
export function deliverAnswer(
  run: RunRecord,
  { status, summary }: NonNullable<Step['ended']>,
  nowMs: number,
): Statement[] {
  const { deliver, fromChat } = run.request;
  const text = status === 'ok' || !fromChat ? summary : failureText(status, summary);
  if (!deliver || (status !== 'ok' && !fromChat) || text.trim() === '') return [];
  const { runId, wsId } = run;
  const message = { messageId: ANSWER + runId, message: text, from: runId, acceptedMs: nowMs };
  return [insertDelivery({ ...deliver, ...message, wsId })];
}

/** What a chat is told of a run without an answer. Whoever cancels it knows. */
const failureText = (status: RunOutcome['status'], summary: string): string =>
  status === 'cancelled' ? '' : `⚠ There is no answer: ${summary}`;
