import type { Store } from '../store/store.ts';
import type { Messages } from './messages.ts';

interface AnswerDeps {
  store: Pick<Store, 'db'>;
  messages: Pick<Messages, 'backwards'>;
}

/** The last text that the model said in a run. Undefined if it said nothing, or if that was taken back. */
export async function answerOfRun(
  { wsId, runId }: { wsId: string; runId: string },
  { store, messages }: AnswerDeps,
): Promise<string | undefined> {
  const row = await store.db
    .selectFrom('workstreams')
    .select('message_count')
    .where('ws_id', '=', wsId)
    .executeTakeFirst();
  for await (const page of messages.backwards(wsId, { after: 0, upTo: row?.message_count ?? 0 }))
    for (const { message, runId: of } of page.toReversed())
      if (of === runId && message.role === 'assistant' && message.content !== '') return message.content;
  return undefined;
}
