import type { DecidedBy } from '../../../protocol/stream-events.ts';
import type { ToolCall } from '../message.ts';
import type { ProcessIdentity } from '../tools/tool.ts';

export interface Decision {
  approved: boolean;
  feedback: string;
  always: boolean;
  by: DecidedBy;
}

/** What a run does, written down before it takes effect. The fold below is what a restart resumes from. */
export type JournalEntry =
  | { kind: 'accepted' }
  | { kind: 'started' }
  | { kind: 'model_called'; afterSeq: number }
  | { kind: 'model_answered'; calls: ToolCall[] }
  | { kind: 'approval_asked'; approvalId: string; question: 'tools' | 'outcome'; digests: Record<string, string> }
  | { kind: 'approval_decided'; approvalId: string; decision: Decision }
  | { kind: 'batch_cleared'; digests: Record<string, string> } // nothing in it needed a person
  | { kind: 'tool_started'; callId: string; safeToRepeat: boolean }
  | { kind: 'tool_process'; callId: string; process: ProcessIdentity }
  | { kind: 'tool_finished'; callId: string }
  | { kind: 'suspended' } // the daemon stopped in order; the turn goes on after a restart
  | { kind: 'ended'; status: 'ok' | 'error' | 'cancelled' | 'timeout' };

export interface ToolProgress {
  state: 'started' | 'finished';
  safeToRepeat: boolean;
  process?: ProcessIdentity;
}

export interface AskedApproval {
  approvalId: string;
  question: 'tools' | 'outcome';
  /** call id → what the person was shown, as a digest. */
  digests: Record<string, string>;
  decision?: Decision;
}

/** How far a run has come. */
export interface Progress {
  phase: 'queued' | 'started' | 'generating' | 'batch' | 'ended';
  /** Message count when the current turn was asked of the model. */
  afterSeq: number;
  /** How often the current turn has been asked. */
  attempts: number;
  turns: number;
  /** The current turn's tool calls. */
  calls: ToolCall[];
  tools: Map<string, ToolProgress>;
  /** The current turn's question, and the latest about outcomes. */
  approval: AskedApproval | undefined;
  outcomeApproval: AskedApproval | undefined;
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
});

const CLEARED: Decision = { approved: true, feedback: '', always: false, by: { kind: 'policy' } };

/** Takes one entry into account, in place. */
export function advance(progress: Progress, entry: JournalEntry): void {
  switch (entry.kind) {
    case 'accepted':
      return;
    case 'started':
      progress.phase = 'started';
      return;
    case 'model_called':
      modelCalled(progress, entry.afterSeq);
      return;
    case 'model_answered':
      Object.assign(progress, { phase: 'batch', attempts: 0, calls: entry.calls, tools: new Map() });
      progress.approval = undefined;
      progress.outcomeApproval = undefined;
      return;
    case 'approval_asked': {
      const asked: AskedApproval = { approvalId: entry.approvalId, question: entry.question, digests: entry.digests };
      if (entry.question === 'tools') progress.approval = asked;
      else progress.outcomeApproval = asked;
      return;
    }
    case 'approval_decided': {
      const asked = [progress.approval, progress.outcomeApproval].find((a) => a?.approvalId === entry.approvalId);
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
    case 'tool_finished': {
      const tool = progress.tools.get(entry.callId) ?? { state: 'finished', safeToRepeat: true };
      progress.tools.set(entry.callId, { ...tool, state: 'finished' });
      return;
    }
    case 'suspended':
      // A stop in order says nothing against the turn: only crashes count as attempts.
      if (progress.phase === 'generating') progress.attempts -= 1;
      return;
    case 'ended':
      progress.phase = 'ended';
      return;
  }
}

function modelCalled(progress: Progress, afterSeq: number): void {
  if (progress.phase !== 'generating') progress.turns += 1;
  progress.attempts = progress.phase === 'generating' ? progress.attempts + 1 : 1;
  progress.phase = 'generating';
  progress.afterSeq = afterSeq;
}

function toolStarted(progress: Progress, { callId, safeToRepeat }: { callId: string; safeToRepeat: boolean }): void {
  progress.tools.set(callId, { state: 'started', safeToRepeat });
  const asked = progress.outcomeApproval;
  if (!asked) return;
  // "Run it again" was said of one start; should this one be cut off too, a person is asked anew.
  const { [callId]: _, ...digests } = asked.digests;
  progress.outcomeApproval = { ...asked, digests };
}

/** The question that waits for a person, if one does. */
export const pendingApproval = (progress: Progress): AskedApproval | undefined =>
  [progress.outcomeApproval, progress.approval].find((asked) => asked && !asked.decision);

/** Calls of the current batch without a result. */
export const openCalls = (progress: Progress): ToolCall[] =>
  progress.phase === 'batch' ? progress.calls.filter(({ id }) => progress.tools.get(id)?.state !== 'finished') : [];
