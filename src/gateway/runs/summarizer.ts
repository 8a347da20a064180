import type { Models } from '../../agent/providers/model.ts';
import type { Summarizer } from '../../agent/run/window/run-window.ts';

/** A model of config.json with this name writes the summaries of all conversations. */
const SUMMARIZER = 'compaction';

/** The model that writes the summaries of a conversation: by default its own, which also replaces a failing one. */
export async function summarizerOf(
  modelAlias: string | null,
  models: Pick<Models, 'list' | 'resolve'>,
): Promise<Summarizer> {
  const own = await models.resolve(modelAlias ?? undefined);
  const named = models.list().some(({ alias }) => alias === SUMMARIZER) ? await models.resolve(SUMMARIZER) : own;
  return named.alias === own.alias ? { model: own } : { model: named, spare: own };
}
