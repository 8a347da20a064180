import type { Message } from '../../message.ts';
import type { Model, ModelRequest } from '../../providers/model.ts';
import type { Spending } from '../spending.ts';
import type { ModelWindows } from './model-windows.ts';
import type { SummaryPhase } from './summary-report.ts';

/** A message that the model reads, with its number in the conversation. A summary has the number of the last one that it replaces. */
export interface NumberedMessage {
  seq: number;
  message: Message;
}

/** The size of the context when the model last answered. */
export interface ContextCount {
  tokens: number;
  /** How many messages were stored then, with the answer. */
  afterSeq: number;
}

/** Who writes summaries. */
export interface Summarizer {
  model: SummaryModel;
  /** Used if the first one fails. */
  spare?: SummaryModel;
  /** The first one is the model of the conversation, and knows its messages. */
  isOwn?: true;
}

/** A model whose requests are counted. */
export type SummaryModel = Pick<Model, 'alias' | 'writesSummaries' | 'stream'>;

/** Counts the requests for a summary. */
export interface SummaryAccount {
  /** Called before each request, and again for a model that takes over. Rejects if it may not be made. */
  begin(model: Model, request: ModelRequest): Promise<void>;
  /** Called after each answer. */
  end(spending: Spending): Promise<void>;
}

/** How full the context is, and what a run needs to make room in it. */
export interface RunWindow {
  windows: ModelWindows;
  /** Undefined before the first answer, and after every cut. */
  lastCount(): ContextCount | undefined;
  /** The window of the model that last answered, in tokens; 0 when unknown. */
  lastWindow(): number;
  /** Everything that the model reads, in its order. */
  read(): Promise<NumberedMessage[]>;
  /** The model that writes summaries; by default the one of the conversation. */
  summarizer(account: SummaryAccount): Promise<Summarizer>;
  onSummary(phase: SummaryPhase): void;
}

/** Changes what the model reads of the messages up to `toSeq`. They stay stored, and people still see them. */
export type ContextCut =
  /** Long outputs become a line each. */
  | { kind: 'prune'; toSeq: number }
  /** One message stands in their place. */
  | { kind: 'compaction'; toSeq: number; summary: Message }
  /** Attachments become words. */
  | { kind: 'attachments'; toSeq: number }
  /** Images become words. */
  | { kind: 'images'; toSeq: number }
  /** Answers go back without what their provider signed. */
  | { kind: 'unbind'; toSeq: number };
