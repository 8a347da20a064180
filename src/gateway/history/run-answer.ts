import type { Store } from '../store/store.ts';
import type { Messages } from './messages.ts';

interface AnswerDeps {
  store: Pick<Store, 'db'>;
  messages: Pick<Messages, 'page'>;
}

/** So many of the last messages of a run are looked through. */
const LAST = 200;

/** The last text that the model said in a run. Undefined if it said nothing, or if that was taken back. */
export async function answerOfRun(
  { wsId, runId }: { wsId: string; runId: string },
  { store, messages }: AnswerDeps,
): Promise<string | undefined> {
  const range = await store.db
    .selectFrom('messages')
    .select(({ fn }) => [fn.min<number>('seq').as('first'), fn.max<number>('seq').as('last')])
    .where('ws_id', '=', wsId)
    .where('run_id', '=', runId)
    .executeTakeFirst();
  if (!range?.last) return undefined;
  const page = await messages.page(wsId, { after: range.first - 1, upTo: range.last, limit: LAST });
  for (const { message, runId: of } of page.reverse())
    if (of === runId && message.role === 'assistant' && message.content !== '') return message.content;
  return undefined;
}
