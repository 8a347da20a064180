import type { Models } from '../../agent/providers/model.ts';

/** A model of config.json with this name writes the summaries of all conversations. */
const SUMMARIZER = 'compaction';

/** The model that writes the summaries of a conversation: by default its own; undefined for the default model. */
export const summarizerOf = (modelAlias: string | null, models: Pick<Models, 'list'>): string | undefined =>
  models.list().some(({ alias }) => alias === SUMMARIZER) ? SUMMARIZER : (modelAlias ?? undefined);
