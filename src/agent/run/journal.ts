import type { BudgetQuestion, RunLimit, RunOutcome } from '../../../protocol/run-outcome.ts';
import type { DecidedBy, Effort, QuestionKind } from '../../../protocol/stream-events.ts';
import type { WaitEnd } from '../coordinator/wait-end.ts';
import type { ToolCall } from '../message.ts';
import type { ProcessIdentity, ToolOutcome } from '../tools/tool.ts';
import type { JournaledInput } from './inputs/journaled-input.ts';
import { addTrace, type CallTrace, endTurn, newRepeats, type Repeats } from './limits/repeats.ts';
import type { JournaledPlan } from './plan/journaled-plan.ts';

export interface Decision {
  approved: boolean;
  feedback: string;
  always: boolean;
  by: DecidedBy;
  /** The calls that are denied although others are approved, with what was said about each. */
  denied?: Record<string, string>;
  /** What a person answered to questions of the agent, by their calls. */
  answers?: Record<string, Answer>;
  /** The ids of the rules that were given with it. */
  rules?: string[];
}

/** An answer to a question of the agent: the text, the label of a choice, or both. */
export interface Answer {
  text?: string;
  choice?: string;
}

/** A step of a run, written before it takes effect. Restarts resume from the fold below. */
export type JournalEntry =
  | { kind: 'accepted' }
  | { kind: 'started'; model?: string | null; effort?: Effort } // the alias of the workstream's model; null: the default one
  | { kind: 'model_called'; afterSeq: number }
  | { kind: 'fell_back'; model: string } // this model answers for the rest of the run
  | { kind: 'model_answered'; calls: ToolCall[]; cut?: Cut }
  | {
      kind: 'approval_asked';
      approvalId: string;
      question: QuestionKind;
      digests: Record<string, string>;
      budget?: BudgetQuestion;
      plan?: JournaledPlan;
      input?: JournaledInput;
    }
  | { kind: 'approval_decided'; approvalId: string; decision: Decision }
  | { kind: 'batch_cleared'; digests: Record<string, string> } // no call needs a person
  | { kind: 'tool_started'; callId: string; safeToRepeat: boolean }
  | { kind: 'tool_process'; callId: string; process: ProcessIdentity }
  | { kind: 'tool_returned'; callId: string; returned: ReturnedCall } // hooks still run
  // `wrapUp`: the result ends with the notice that the model's next answer is its last
  // `waited`: it waited for workstreams
  | { kind: 'tool_finished'; callId: string; trace?: CallTrace; wrapUp?: RunLimit; waited?: WaitEnd }
  // A person declined to spend more, so the next answer is the last one. `reason`: how the run ends.
  | { kind: 'wrap_up'; limit: 'budget'; question: BudgetQuestion; reason: string }
  | { kind: 'output_refused' } // the answer does not fit the schema of the request, so the model is asked again
  | { kind: 'not_judged'; approvalId: string; callId: string } // the model that judges calls gave no verdict
  | { kind: 'suspended' } // the daemon stopped in an orderly way; the turn continues after a restart
  | { kind: 'ended'; status: RunOutcome['status'] };

/** The answer reached the output limit. `again`: so did its continuation. */
export type Cut = 'once' | 'again';

/** What a call returned before hooks ran after it. */
export interface ReturnedCall {
  result: Omit<ToolOutcome, 'images' | 'guarded'>;
  durationMs: number;
}

export interface ToolProgress {
  state: 'started' | 'finished';
  safeToRepeat: boolean;
  process?: ProcessIdentity;
  /** Set while hooks run after it. */
  returned?: ReturnedCall;
}

export interface AskedApproval {
  approvalId: string;
  question: QuestionKind;
  /** Call id, or the path of an instruction file → digest of what the person was shown. */
  digests: Record<string, string>;
  budget?: BudgetQuestion | undefined;
  /** If the question is about a plan. */
  plan?: JournaledPlan | undefined;
  /** If it came up while a call ran. */
  input?: JournaledInput | undefined;
  decision?: Decision;
}

export type InputApproval = AskedApproval & { input: JournaledInput };

/** How far a run has progressed. */
export interface Progress {
  phase: 'queued' | 'started' | 'generating' | 'batch' | 'ended';
  /** The message count when the current turn began. */
  afterSeq: number;
  /** How many times the current turn was requested. */
  attempts: number;
  turns: number;
  /** The tool calls of the current turn. */
  calls: ToolCall[];
  tools: Map<string, ToolProgress>;
  /** The approval of the current turn, and the latest one about unknown outcomes. */
  approval: AskedApproval | undefined;
  outcomeApproval: AskedApproval | undefined;
  /** The question about instruction files, before the first turn. */
  instructionsApproval: AskedApproval | undefined;
  /** About the budget of the next turn. */
  budgetApproval: AskedApproval | undefined;
  /** The latest one about a plan, in the current turn. */
  planApproval: AskedApproval | undefined;
  /** Those that came up while calls of the current turn ran, in order. */
  inputs: InputApproval[];
  /** How the current turn's answer was cut, and the previous one's. */
  cut: Cut | undefined;
  previousCut: Cut | undefined;
  repeats: Repeats;
  /** The limit that ends the run after one more answer. */
  wrapUp: WrapUp | undefined;
  /** The alias of the workstream's model when the run began; null: the default one. Undefined for earlier versions. */
  model: string | null | undefined;
  /** How much the model reasoned when the run began. Undefined for earlier versions. */
  effort: Effort | undefined;
  /** The alias of the model that answers instead of the workstream's. */
  fallback: string | undefined;
  /** How many answers did not fit the schema of the request. */
  outputRefusals: number;
  /** The current turn's answer did not, and the model is asked again. */
  isOutputRefused: boolean;
}

interface WrapUp {
  limit: RunLimit;
  isAnswered: boolean;
  /** The question about a budget that a person declined, and how the run ends. */
  declined?: { question: BudgetQuestion; reason: string };
}

export const newProgress = (): Progress => ({
  phase: 'queued',
  afterSeq: 0,
  attempts: 0,
  turns: 0,
  calls: [],
  tools: new Map(),
  approval: undefined,
  outcomeApproval: undefined,
  instructionsApproval: undefined,
  budgetApproval: undefined,
  planApproval: undefined,
  inputs: [],
  cut: undefined,
  previousCut: undefined,
  repeats: newRepeats(),
  wrapUp: undefined,
  model: undefined,
  effort: undefined,
  fallback: undefined,
  outputRefusals: 0,
  isOutputRefused: false,
});

const CLEARED: Decision = { approved: true, feedback: '', always: false, by: { kind: 'policy' } };

/** Applies one entry, in place. */
export function advance(progress: Progress, entry: JournalEntry): void {
  switch (entry.kind) {
    case 'accepted':
    case 'not_judged':
      return;
    case 'started':
      progress.phase = 'started';
      progress.model = entry.model;
      progress.effort = entry.effort;
      return;
    case 'model_called':
      modelCalled(progress, entry.afterSeq);
      return;
    case 'fell_back':
      progress.fallback = entry.model;
      return;
    case 'model_answered':
      modelAnswered(progress, entry);
      return;
    case 'approval_asked': {
      const { kind: _, input, ...asked } = entry;
      if (input) progress.inputs.push({ ...asked, input });
      else progress[PLACES[asked.question]] = asked;
      return;
    }
    case 'approval_decided': {
      const asked = findAsked(progress, entry.approvalId);
      if (asked) asked.decision = entry.decision;
      return;
    }
    case 'batch_cleared':
      progress.approval = { approvalId: '', question: 'tools', digests: entry.digests, decision: CLEARED };
      return;
    case 'tool_started':
      toolStarted(progress, entry);
      return;
    case 'tool_process': {
      const tool = progress.tools.get(entry.callId);
      if (tool) tool.process = entry.process;
      return;
    }
    case 'tool_returned': {
      const tool = progress.tools.get(entry.callId);
      if (tool) tool.returned = entry.returned;
      return;
    }
    case 'tool_finished':
      toolFinished(progress, entry);
      return;
    case 'wrap_up': {
      const { limit, question, reason } = entry;
      progress.wrapUp = { limit, isAnswered: false, declined: { question, reason } };
      return;
    }
    case 'output_refused':
      progress.outputRefusals += 1;
      progress.isOutputRefused = true;
      return;
    case 'suspended':
      // An orderly stop does not count as an attempt; only crashes do.
      if (progress.phase === 'generating') progress.attempts -= 1;
      return;
    case 'ended':
      progress.phase = 'ended';
      return;
  }
}

function modelCalled(progress: Progress, afterSeq: number): void {
  if (progress.phase === 'batch') endTurn(progress.repeats, progress.calls.length);
  if (progress.phase !== 'generating') progress.turns += 1;
  progress.attempts = progress.phase === 'generating' ? progress.attempts + 1 : 1;
  progress.phase = 'generating';
  progress.budgetApproval = undefined;
  progress.afterSeq = afterSeq;
}

function modelAnswered(progress: Progress, { calls, cut }: EntryOf<'model_answered'>): void {
  Object.assign(progress, { phase: 'batch', attempts: 0, calls, tools: new Map() });
  progress.approval = undefined;
  progress.outcomeApproval = undefined;
  progress.planApproval = undefined;
  progress.inputs = [];
  progress.isOutputRefused = false;
  progress.previousCut = progress.cut;
  progress.cut = cut;
  if (progress.wrapUp) progress.wrapUp = { ...progress.wrapUp, isAnswered: true };
}

function toolFinished(progress: Progress, { callId, trace, wrapUp }: EntryOf<'tool_finished'>): void {
  const { returned: _, ...tool } = progress.tools.get(callId) ?? { safeToRepeat: true };
  progress.tools.set(callId, { ...tool, state: 'finished' });
  if (trace) addTrace(progress.repeats, trace, progress.turns);
  if (wrapUp !== undefined) progress.wrapUp = { limit: wrapUp, isAnswered: false };
}

type EntryOf<K extends JournalEntry['kind']> = Extract<JournalEntry, { kind: K }>;

function toolStarted(progress: Progress, { callId, safeToRepeat }: EntryOf<'tool_started'>): void {
  progress.tools.set(callId, { state: 'started', safeToRepeat });
  const asked = progress.outcomeApproval;
  if (!asked) return;
  // "Run it again" applies to one start. If that start is interrupted too, a person is asked again.
  const { [callId]: _, ...digests } = asked.digests;
  progress.outcomeApproval = { ...asked, digests };
}

const PLACES = {
  tools: 'approval',
  outcome: 'outcomeApproval',
  instructions: 'instructionsApproval',
  budget: 'budgetApproval',
  plan: 'planApproval',
} as const satisfies Record<QuestionKind, keyof Progress>;

const askedIn = ({
  outcomeApproval,
  approval,
  instructionsApproval,
  budgetApproval,
  planApproval,
  inputs,
}: Progress) => [outcomeApproval, approval, instructionsApproval, budgetApproval, planApproval, ...inputs];

export const findAsked = (progress: Progress, approvalId: string): AskedApproval | undefined =>
  askedIn(progress).find((asked) => asked?.approvalId === approvalId);

/** The approval that waits for a person, if any. */
export const pendingApproval = (progress: Progress): AskedApproval | undefined =>
  askedIn(progress).find((asked) => asked && !asked.decision);

/** Calls of the current batch without a result. */
export const openCalls = (progress: Progress): ToolCall[] =>
  progress.phase === 'batch' ? progress.calls.filter(({ id }) => progress.tools.get(id)?.state !== 'finished') : [];
