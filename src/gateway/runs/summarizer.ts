import { createSummaryModel } from '../../agent/run/model/run-model.ts';
import type { Summarizer, SummaryAccount } from '../../agent/run/window/run-window.ts';

/** A model of config.json with this name writes the summaries of all conversations. */
const SUMMARIZER = 'compaction';

type SummarizerDeps = Parameters<typeof createSummaryModel>[1] & {
  models: { list(): { alias: string }[] };
};

/**
 * The model that writes the summaries of a conversation: by default its own, which also replaces a failing one. Each has
 * its fallback, and its waits are shown.
 */
export async function summarizerOf(
  modelAlias: string | undefined,
  account: SummaryAccount,
  { models, recorder, waits, clock, log }: SummarizerDeps,
): Promise<Summarizer> {
  const shared = { models, recorder, waits, clock, log };
  const own = await models.resolve(modelAlias);
  const isNamed = models.list().some(({ alias }) => alias === SUMMARIZER);
  const named = isNamed ? await models.resolve(SUMMARIZER) : own;
  const spare = createSummaryModel({ model: own, fallback: own.fallback, account }, shared);
  if (named.alias === own.alias) return { model: spare, isOwn: true };
  const fallback = [...new Set([...named.fallback, own.alias, ...own.fallback])];
  return { model: createSummaryModel({ model: named, fallback, account }, shared), spare };
}
