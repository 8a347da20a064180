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

/** What the daemon has learned about the windows of its models. */
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

/** A window learned from a refusal. */
export interface LearnedWindow {
  /** In tokens. */
  size: number;
  /**
   * What was known of the window otherwise; 0: nothing. If the server or config.json says something else later, that counts
   * until the server refuses a request again.
   */
  instead: number;
}

interface Learned {
  window: LearnedWindow | undefined;
  bytesPerToken: number;
}

export interface ModelWindowsOptions {
  /** Called after a window was learned, or proved to be larger (undefined). */
  onLearned?(model: Named, window: LearnedWindow | undefined): void;
}

export function createModelWindows({ onLearned }: ModelWindowsOptions = {}): ModelWindows & {
  /** What an earlier process learned. */
  restore(model: Omit<Named, 'contextWindow'>, window: LearnedWindow): void;
} {
  const known = new Map<string, Learned>();
  const learnedOf = (model: Omit<Named, 'contextWindow'>): Learned => {
    const key = `${model.alias}\n${model.provider}\n${model.modelId}`;
    const found = known.get(key) ?? { window: undefined, bytesPerToken: USUAL_BYTES_PER_TOKEN };
    known.set(key, found);
    return found;
  };
  const learn = (model: Named, window: LearnedWindow | undefined) => {
    learnedOf(model).window = window;
    onLearned?.(model, window);
  };
  return {
    of(model) {
      const { window, bytesPerToken } = learnedOf(model);
      return { size: sizeOf(model.contextWindow, window), bytesPerToken };
    },
    restore(model, window) {
      learnedOf(model).window = window;
    },
    noteUsage(model, { usage: { promptTokens, completionTokens }, bytes }) {
      const learned = learnedOf(model);
      if (learned.window && learned.window.size < promptTokens + completionTokens) learn(model, undefined);
      if (promptTokens < TELLING_TOKENS) return;
      learned.bytesPerToken = (learned.bytesPerToken + rateOf(bytes, promptTokens)) / 2;
    },
    noteOverflow(model, { maximum, asked }, { tokens, bytes }) {
      const size = maximum ?? Math.max(1, Math.floor(tokens * SMALLER));
      learn(model, { size, instead: model.contextWindow });
      if (asked !== undefined) learnedOf(model).bytesPerToken = rateOf(bytes, asked);
    },
  };
}

/** `contextWindow`: as known otherwise; 0 if unknown, also while a server was not asked yet. */
function sizeOf(contextWindow: number, window: LearnedWindow | undefined): number {
  if (!window) return contextWindow;
  if (contextWindow === 0) return window.size;
  return contextWindow === window.instead ? Math.min(window.size, contextWindow) : contextWindow;
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
