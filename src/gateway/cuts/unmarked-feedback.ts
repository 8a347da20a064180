import { z } from 'zod';
import { isFromPerson, type Message, type UserMessage } from '../../agent/message.ts';
import type { Store } from '../store/store.ts';

/*
 * Feedback that was given with an approval belongs to the turn that asked. Earlier versions stored it without the mark that
 * says so.
 */

interface Placed {
  seq: number;
  message: Message;
  runId?: string;
}

/** Whether it is feedback by its place: only feedback and messages that steer come later in a run than its first message. */
export const isLaterInRun = ({ message, runId }: Placed, before: Placed | undefined): boolean =>
  runId !== undefined && before?.runId === runId && isUnmarked(message);

/**
 * The messages of a page, with the mark. Copies do not know their runs, but have the decisions: feedback repeats the one on
 * the calls before it.
 */
export async function withFeedbackMarked<P extends Placed>(
  { db }: Pick<Store, 'db'>,
  wsId: string,
  page: readonly P[],
): Promise<P[]> {
  const marked: P[] = [];
  for (const [index, placed] of page.entries()) {
    const { message, seq, runId } = placed;
    const isCandidate = runId === undefined && isUnmarked(message) && page[index - 1]?.message.role !== 'assistant';
    const isFeedback =
      isCandidate && (await isDecided(db, wsId, { seq, text: message.content, from: callsBefore(page, index) }));
    marked.push(isFeedback ? { ...placed, message: { ...message, feedback: true } } : placed);
  }
  return marked;
}

const isUnmarked = (message: Message): message is UserMessage =>
  isFromPerson(message) && !message.steered && !message.feedback;

/** More than the calls of one answer. */
const MOST_RESULTS = 1_000;

/** The answer whose results come right before a message; a page may begin among them. */
function callsBefore(page: readonly Placed[], index: number): number {
  const answer = page.slice(0, index).findLast(({ message }) => message.role !== 'tool');
  if (answer) return answer.message.role === 'assistant' ? answer.seq : Number.MAX_SAFE_INTEGER;
  return (page[index]?.seq ?? 0) - MOST_RESULTS;
}

interface Sought {
  seq: number;
  text: string;
  from: number;
}

/** Whether people approved the calls before a message with these words; both questions about them may have some. */
async function isDecided(db: Store['db'], wsId: string, { seq, text, from }: Sought): Promise<boolean> {
  const rows = await db
    .selectFrom('notes')
    .select('body_json')
    .where('ws_id', '=', wsId)
    .where('after_seq', '>=', from)
    .where('after_seq', '<', seq)
    .orderBy('after_seq')
    .orderBy('offset')
    .execute();
  const given = rows.map(({ body_json }) => feedbackIn(body_json)).filter((feedback) => feedback !== '');
  return given.includes(text) || given.slice(-2).join('\n') === text;
}

const Decision = z.object({
  type: z.enum(['approval_resolved', 'decision']),
  approved: z.literal(true),
  feedback: z.string(),
});

/** Empty for what is no approval with feedback. */
function feedbackIn(json: string): string {
  try {
    return Decision.safeParse(JSON.parse(json)).data?.feedback ?? '';
  } catch {
    return ''; // not JSON
  }
}
