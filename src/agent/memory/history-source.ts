import type { StoredTaint } from './memory-source.ts';

/** A message that was found in the history. */
export interface RecalledMessage {
  wsId: string;
  /** The name of its workstream; absent if it has none. */
  title?: string;
  /** Its number in the workstream. */
  seq: number;
  createdMs: number;
  role: 'user' | 'assistant';
  text: string;
  /** What it brings along that nobody trusts. */
  taint?: StoredTaint;
}

export interface Recalled {
  messages: readonly RecalledMessage[];
  /** Older messages are not in the index yet; the next search continues with them. */
  isIncomplete: boolean;
}

/** The earlier messages that the agent of a workstream may know. */
export interface HistorySource {
  /** Those with all words of the query, the best first. Throws GatewayError with words for the model. */
  search(wsId: string, query: string, options: { limit: number; signal: AbortSignal }): Promise<Recalled>;
}
