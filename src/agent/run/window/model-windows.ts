import type { Model, Usage } from '../../providers/model.ts';
import type { Refusal } from '../../providers/refusals/refusal.ts';

/** The context window of a model, as far as known. */
export interface ModelWindow {
  /** In tokens; 0 when unknown. */
  size: number;
  /** UTF-8 bytes of text per token, on average. */
  bytesPerToken: number;
}

type Named = Pick<Model, 'alias' | 'provider' | 'modelId' | 'contextWindow'>;

/** What the daemon has learned about the windows of its models, while it runs. */
export interface ModelWindows {
  of(model: Named): ModelWindow;
  /** After an answer; `bytes`: the text of its request. */
  noteUsage(model: Named, { usage, bytes }: { usage: Usage; bytes: number }): void;
  /** After a request that was too long, with its size as estimated. */
  noteOverflow(model: Named, refusal: WindowRefusal, size: { tokens: number; bytes: number }): void;
}

type WindowRefusal = Extract<Refusal, { about: 'window' }>;

/** English text and code have about 4 bytes per token, other texts and numbers fewer. */
const USUAL_BYTES_PER_TOKEN = 3.5;
const LEAST = 1.5;
const MOST = 5;
/** Below this, the frame of a request outweighs its text. */
const TELLING_TOKENS = 500;
/** Without numbers from the upstream, the window is taken to be this much smaller than the refused request. */
const SMALLER = 0.9;

interface Learned {
  window: number | undefined;
  bytesPerToken: number;
}

export function createModelWindows(): ModelWindows {
  const known = new Map<string, Learned>();
  const learnedOf = (model: Named): Learned => {
    const key = `${model.alias}\n${model.provider}\n${model.modelId}`;
    const found = known.get(key) ?? { window: undefined, bytesPerToken: USUAL_BYTES_PER_TOKEN };
    known.set(key, found);
    return found;
  };
  return {
    of(model) {
      const { window, bytesPerToken } = learnedOf(model);
      const size = window === undefined ? model.contextWindow : Math.min(window, model.contextWindow || window);
      return { size, bytesPerToken };
    },
    noteUsage(model, { usage: { promptTokens, completionTokens }, bytes }) {
      const learned = learnedOf(model);
      if (learned.window !== undefined && learned.window < promptTokens + completionTokens) learned.window = undefined;
      if (promptTokens < TELLING_TOKENS) return;
      learned.bytesPerToken = (learned.bytesPerToken + rateOf(bytes, promptTokens)) / 2;
    },
    noteOverflow(model, { maximum, asked }, { tokens, bytes }) {
      const learned = learnedOf(model);
      learned.window = maximum ?? Math.max(1, Math.floor(tokens * SMALLER));
      if (asked !== undefined) learned.bytesPerToken = rateOf(bytes, asked);
    },
  };
}

const rateOf = (bytes: number, tokens: number): number => Math.min(MOST, Math.max(LEAST, bytes / tokens));

/** The share of the window that one output may fill. */
const OUTPUT_SHARE = 1 / 8;
const LEAST_OUTPUT_BYTES = 4 * 1024;
/** The limit for one output, even in the largest window. */
const MOST_OUTPUT_BYTES = 64 * 1024;

/** How much of one output a model gets, in bytes; its window is in tokens, 0 if unknown. */
export function outputBytesIn(window: number): number {
  if (window === 0) return MOST_OUTPUT_BYTES;
  const share = Math.floor(window * OUTPUT_SHARE * USUAL_BYTES_PER_TOKEN);
  return Math.min(MOST_OUTPUT_BYTES, Math.max(LEAST_OUTPUT_BYTES, share));
}
