import type { Step } from '../../agent/run/recorder.ts';
import { spenderOf } from '../queue/authors.ts';
import type { RunRecord } from '../runs/run-record.ts';
import { stepStatements } from '../runs/run-rows.ts';
import type { Statement } from '../store/store.ts';
import { chargeBrokenOff, forgetReservation } from '../usage/reservation-rows.ts';
import { addUsage } from '../usage/usage-rows.ts';
import { insertAgentMessage } from './sub-agent-rows.ts';

interface AgentStep {
  /** As other parts know runs: the id is that of the sub-agent. */
  run: RunRecord;
  /** The run that pays. */
  spender: RunRecord;
  /** How many messages it has so far. */
  count: number;
  nowMs: number;
}

/** All statements of a step of a sub-agent except its row and its events. */
export function agentStatements(step: Step, { run, spender, count, nowMs }: AgentStep): Statement[] {
  const { journal, attachments, approval, assessments, verdicts, settled, reserved, trust } = step;
  const own: Step = {
    ...(journal && { journal }),
    ...(attachments && { attachments }),
    ...(approval && { approval }),
    ...(assessments && { assessments }),
    ...(verdicts && { verdicts }),
    ...(settled && { settled }),
    ...(reserved && { reserved }),
    ...(trust && { trust }),
  };
  const toolCalls = (step.messages ?? []).reduce(
    (sum, message) => sum + (message.role === 'assistant' ? message.toolCalls.length : 0),
    0,
  );
  const spent = [step.summarized, step.usage && { ...step.usage, toolCalls }].filter((one) => one !== undefined);
  return [
    ...stepStatements(run, own, nowMs),
    ...(step.messages ?? []).map((message, index) =>
      insertAgentMessage({ agentId: run.runId, seq: count + index + 1 }, message, nowMs),
    ),
    ...spent.flatMap((one) => [addUsage(spenderOf(spender), one, nowMs), forgetReservation(run.runId)]),
    ...(step.ended ? chargeBrokenOff([run.runId]) : []),
  ];
}
