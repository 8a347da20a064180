import { GatewayError } from '../../../../protocol/errors.ts';
import type { Coordination } from '../../coordinator/coordination.ts';
import type { CoordinatorTool } from '../../coordinator/tool-names.ts';
import { StopReason } from '../../stop-reason.ts';
import { outcomeOf, toStopLine } from '../stop-line.ts';
import type { Prepared, ToolContext, ToolOutcome, ToolRun } from '../tool.ts';

/** The id of a workstream, as models write it. */
export const WS_ID_WORDS = 'The ws_id of the workstream: 32 hexadecimal digits';

interface CoordinatorCall {
  name: CoordinatorTool;
  subject: string;
  preview?: string;
  needsApproval?: boolean;
  /** What allows such calls in general is not enough. */
  asksAnyhow?: true;
  stored: 'read' | 'changed';
  execute(coordination: Coordination, run: ToolRun): Promise<ToolOutcome>;
}

/** A call of a tool of coordinators. What it may not do comes back as words for the model. */
export function coordinatorCall(
  { coordination }: Pick<ToolContext, 'coordination'>,
  { name, subject, preview = '', needsApproval = false, asksAnyhow, stored, execute }: CoordinatorCall,
): Prepared {
  if (!coordination) return { kind: 'refused', subject, reason: NOT_HERE };
  return {
    kind: 'ready',
    subject,
    preview,
    approvalLabel: name,
    needsApproval,
    ...(asksAnyhow && { asksAnyhow }),
    stored,
    execute: (run) => orFailed(() => execute(coordination, run)),
  };
}

/** Why a call is refused where no other workstreams can be reached. */
export const NOT_HERE = 'Only the agent of a coordinator itself can use this tool.';

/** After a shutdown the call is made again, so that stop is none of its outcomes. */
async function orFailed(work: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GatewayError) return { output: error.message, outcome: 'failed' };
    if (error instanceof StopReason && error.kind !== 'shutdown')
      return { output: toStopLine(error, 0), outcome: outcomeOf(error) };
    throw error;
  }
}

/** As data, so that no text of another workstream can be taken for anything else. */
export const asData = (value: unknown, taint?: ToolOutcome['taint']): ToolOutcome => ({
  output: JSON.stringify(value),
  outcome: 'done',
  ...(taint && { taint }),
});

const MAX_SUBJECT = 200;

/** One line for people. */
export const toSubject = (text: string): string => (text.trim().split('\n')[0] ?? '').slice(0, MAX_SUBJECT);
