import type { SubAgent, SubAgentOutcome } from '../../../protocol/events/sub-agent.ts';
import { lastWords } from '../../agent/last-words.ts';
import type { Message } from '../../agent/message.ts';
import type { NewPrefix, Prefix } from '../../agent/prefix/prefix.ts';
import { taintIn } from '../../agent/run/approval/taint.ts';
import { countStarted, type Step } from '../../agent/run/recorder.ts';
import type { SubAgentEnd } from '../../agent/subagents/sub-agents.ts';
import type { StoredAgent } from './sub-agent-rows.ts';

/** What is stored of a sub-agent after a step; the same object if nothing of it has changed. */
export function afterStep(
  before: StoredAgent,
  step: Step,
  { messages, nowMs }: { messages: readonly Message[]; nowMs: number },
): StoredAgent {
  const { prefix: newPrefix, cut, ended } = step;
  const state = stateAfter(before.state, step);
  if (!newPrefix && !cut && !ended && state === before.state) return before;
  const cuts = cut ? [...before.cuts, cut] : before.cuts;
  const next = { ...before, cuts, state, prefix: newPrefix ? withoutTemplates(newPrefix) : before.prefix };
  if (!ended) return next;
  const end = endOf(state, ended, messages);
  return { ...next, state: { ...state, state: 'ended', outcome: end.outcome, ended_ms: nowMs }, end };
}

/** They are the same for all sub-agents. */
function withoutTemplates({ templates: _, ...prefix }: NewPrefix): Prefix {
  return prefix;
}

function stateAfter(state: SubAgent, step: Step): SubAgent {
  const isTurn = step.journal?.some(({ kind }) => kind === 'model_answered') ?? false;
  const started = countStarted(step);
  const { promptTokens = 0, completionTokens = 0 } = step.usage?.spent ?? step.usage?.usage ?? {};
  if (!isTurn && started === 0) return state;
  return {
    ...state,
    turns: state.turns + Number(isTurn),
    tool_calls: state.tool_calls + started,
    tokens: state.tokens + promptTokens + completionTokens,
  };
}

/** What the parent of a sub-agent gets at its end. */
function endOf(
  { agent_id: agentId, turns, tool_calls: toolCalls, tokens, cancelled_by: by }: SubAgent,
  ended: NonNullable<Step['ended']>,
  messages: readonly Message[],
): SubAgentEnd {
  const outcome = outcomeOf(ended);
  const { kind, target } = taintIn(messages) ?? {};
  return {
    agentId,
    outcome,
    ...(outcome === 'cancelled' && by !== undefined && { isByPerson: true as const }),
    text: textOf(ended, messages),
    turns,
    toolCalls,
    tokens,
    ...(kind !== undefined && { taint: { kind, ...(target !== undefined && { target }) } }),
  };
}

function outcomeOf({ status, limit }: NonNullable<Step['ended']>): SubAgentOutcome {
  if (status === 'cancelled') return 'cancelled';
  if (limit !== undefined || status === 'timeout') return 'limit';
  return status === 'ok' ? 'done' : 'failed';
}

/** What it said last comes with the reason why it says no more. */
function textOf({ status, summary, said }: NonNullable<Step['ended']>, messages: readonly Message[]): string {
  const last = said ?? lastWords(messages);
  return status === 'ok' || last === '' ? summary : `${last}\n\n[${summary}]`;
}
