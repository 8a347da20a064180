import type { Step } from '../../agent/run/recorder.ts';
import type { RunRecord } from '../runs/run-record.ts';
import type { Statement } from '../store/store.ts';
import { insertDelivery } from './delivery-rows.ts';

const ANSWER = 'answer:';

/** The run whose answer a message of the outbox is. */
export const runAnsweredBy = (messageId: string): string | undefined =>
  messageId.startsWith(ANSWER) ? messageId.slice(ANSWER.length) : undefined;

type Ended = NonNullable<Step['ended']>;

/** Queues the answer for its destination together with the end of the run, so neither exists without the other. */
export function deliverAnswer(run: RunRecord, ended: Ended, nowMs: number): Statement[] {
  const { deliver, fromChat } = run.request;
  const text = fromChat ? textForChat(ended) : textElsewhere(ended);
  if (!deliver || text.trim() === '') return [];
  const { runId, wsId } = run;
  const message = { messageId: ANSWER + runId, message: text, from: runId, acceptedMs: nowMs };
  return [insertDelivery({ ...deliver, ...message, wsId })];
}

/** A chat also hears of a run without an answer. Whoever cancels it knows. */
function textForChat({ status, summary, said, limit, failed }: Ended): string {
  if (status === 'cancelled') return '';
  if (status === 'ok') return failed ? `⚠ There is no answer: ${failed.text}` : summary;
  if (said === undefined) return `⚠ There is no answer: ${summary}`;
  return withNote(said, endsEarly({ status, limit }) ? summary : `The answer is incomplete: ${summary}`);
}

/** Elsewhere, only an answer is sent, perhaps one that ends early. */
function textElsewhere({ status, summary, said, limit }: Ended): string {
  if (status === 'ok') return summary;
  return said !== undefined && endsEarly({ status, limit }) ? withNote(said, summary) : '';
}

/** Whether the run ended at a limit, which its summary says. */
const endsEarly = ({ status, limit }: Pick<Ended, 'status' | 'limit'>): boolean =>
  status === 'incomplete' || limit !== undefined;

const withNote = (said: string, note: string): string => `${said}\n\n⚠ ${note}`;
