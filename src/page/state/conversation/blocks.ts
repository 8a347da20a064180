import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import type { PastRuling } from '../../../../protocol/events/rules.ts';
import type { TodoItem } from '../../../../protocol/events/todo.ts';
import type { BudgetQuestion, MessageFailure } from '../../../../protocol/run-outcome.ts';
import type {
  Attachment,
  CallOutcome,
  QuestionKind,
  RunSource,
  StreamEventOf,
} from '../../../../protocol/stream-events.ts';
import type { SpendingSum } from '../../../../protocol/text/spending/spending-words.ts';

/** One item of a conversation on the page. A changed block is a new object, so views compare by identity. */
export type Block = TalkBlock | SummaryBlock;

/** What was said and done. */
export type TalkBlock = UserBlock | AnswerBlock | ToolBlock | ApprovalBlock | DecisionBlock | NoteBlock;

interface Placed {
  key: string;
  /** From a page of stored messages. */
  stored?: true;
}

export interface UserBlock extends Placed {
  kind: 'user';
  text: string;
  source: RunSource;
  /** Absent if there are none. */
  attachments?: readonly Attachment[] | undefined;
  /** Absent on stored messages. */
  runId?: string | undefined;
  /** Its number in the conversation; absent in events of older builds. */
  seq?: number | undefined;
  /** When it was sent; absent in events of older builds. */
  sentMs?: number | undefined;
  /** Its run ended without any answer. */
  failed?: MessageFailure | undefined;
}

export interface AnswerBlock extends Placed {
  kind: 'answer';
  text: string;
  reasoning: string;
  streaming: boolean;
  /** Cut off by a cancel. */
  partial: boolean;
  /** When it was complete; absent while it streams, and in events of older builds. */
  endedMs?: number | undefined;
  /** What it took, and the answers without text before it, which are not shown. */
  spent?: SpendingSum | undefined;
}

export type ToolPhase = 'running' | CallOutcome;

export interface ToolBlock extends Placed {
  kind: 'tool';
  callId: string;
  name: string;
  header: string;
  /** The title of the sub-agent that makes the call; absent: the agent of the conversation. */
  agent?: string | undefined;
  /** What the call works on; undefined if nothing names it. Events of older builds have only the header. */
  subject: string | undefined;
  preview: string;
  /** Whether the preview is a diff. */
  isDiff: boolean;
  /** For a call from the history, which has no preview: the data to rebuild one. */
  recalled: { name: string; arguments: string } | undefined;
  /** Why it ran, or runs, without the sandbox. */
  notSandboxed: string | undefined;
  /** What was decided about it; undefined: as its tool says. */
  ruling: PastRuling | undefined;
  phase: ToolPhase;
  /** The end of the live output, with colour codes. */
  live: string;
  /** Number of characters of live output dropped to keep the page small. */
  liveDropped: number;
  /** The result as the model gets it, with colour codes. */
  result: string | undefined;
  /** Size of the full output if `result` was shortened and the daemon stores the rest. */
  wholeBytes: number | undefined;
  /** Undefined if the command was stopped. */
  exitCode: number | undefined;
  /** Images that it has read. */
  attachments?: readonly Attachment[] | undefined;
  /** The checklist after it; absent of stored calls, whose arguments have it. */
  todo?: readonly TodoItem[] | undefined;
  /** How long the call ran, once it has ended. */
  durationMs: number | undefined;
  /** What the output guard found in its output. */
  warning: Pick<StreamEventOf<'output_warning'>, 'risk_level' | 'annotations' | 'redacted'> | undefined;
}

export type Decision = Pick<
  StreamEventOf<'approval_resolved'>,
  'approved' | 'always' | 'feedback' | 'by' | 'denied_call_ids' | 'rule_ids' | 'plan'
>;

export interface ApprovalBlock extends Placed {
  kind: 'approval';
  approvalId: string;
  question: QuestionKind;
  /** The title of the sub-agent that asks; absent: the agent of the conversation. */
  agent?: string | undefined;
  /** If a budget is used up. */
  budget?: BudgetQuestion | undefined;
  items: readonly ApprovalItem[];
  expiresAtMs: number;
  /** A model may still rate the calls. */
  isJudging?: boolean | undefined;
  /** The calls about which the model has said something, or never will. */
  heard?: readonly string[] | undefined;
  /** Why there is no verdict of the model about some call. */
  silent?: string | undefined;
  decision: Decision | undefined;
}

/** A decided question from the history. */
export interface DecisionBlock extends Placed {
  kind: 'decision';
  question: ApprovalBlock['question'];
  /** The tools that were asked about. */
  names: readonly string[];
  decision: Decision;
}

export interface NoteBlock extends Placed {
  kind: 'note';
  /** `quiet`: what happens to the children of a coordinator. */
  level: 'info' | 'error' | 'quiet';
  /** What a quiet line is about: a later one about the same takes its place. */
  about?: string;
  text: string;
}

/** The model reads this summary in place of the messages up to `toSeq`. */
export interface SummaryBlock extends Placed {
  kind: 'summary';
  toSeq: number;
  text: string;
  /** It came while the page was open. */
  isNew?: true;
}

export const isStored = ({ stored }: Block): boolean => stored === true;

/** Replaces the last block that `matches`, if any. */
export function replaceLast<B extends Block>(
  blocks: readonly Block[],
  matches: (block: Block) => block is B,
  replace: (block: B) => Block,
): readonly Block[] {
  const index = blocks.findLastIndex(matches);
  const found = blocks[index];
  return found && matches(found) ? blocks.with(index, replace(found)) : blocks;
}

const isAnswer = (block: Block): block is AnswerBlock => block.kind === 'answer';
export const isStreaming = (block: Block): block is AnswerBlock => isAnswer(block) && block.streaming;
export const isTool = (block: Block): block is ToolBlock => block.kind === 'tool';
export const isApproval = (block: Block): block is ApprovalBlock => block.kind === 'approval';

/** The question that waits for a person, if there is one. */
export const findPendingApproval = (blocks: readonly Block[]): ApprovalBlock | undefined =>
  blocks.findLast((block): block is ApprovalBlock => isApproval(block) && !block.decision);
