import { GatewayError } from '../../../protocol/errors.ts';
import { type NodeCall, type NodeDirectory, Unanswered } from '../../agent/tools/node.ts';
import type { LeadLink } from './links/lead-link.ts';
import type { Asked } from './links/link.ts';

/** What the active daemon says of a command. */
type FarOutcome = { kind: 'answered'; result: unknown } | { kind: 'unanswered'; why: string };

/**
 * The nodes of the active daemon, for the runs of a worker. After a loss of the active daemon, the next one is asked with the same
 * name of the tool call, so it returns the result and sends nothing again.
 */
export const farNodes = (lead: Pick<LeadLink, 'ask'>): NodeDirectory => ({
  list: (signal) => lead.ask('nodes', null, { signal }), // by `lead`
  async invoke(call, signal) {
    let mayHaveRun = call.wasInterrupted;
    const onLost = () => {
      mayHaveRun = true;
    };
    try {
      const outcome: FarOutcome = await lead.ask('invoke', call, { signal, moreMs: call.timeoutMs, onLost }); // by `serveInvocation`
      if (outcome.kind === 'answered') return outcome.result;
      throw new Unanswered(outcome.why);
    } catch (error) {
      signal.throwIfAborted();
      if (!mayHaveRun || isFinal(error)) throw error;
      throw new Unanswered(call.wasInterrupted ? RESTARTED : LOST, { cause: error });
    }
  },
});

const RESTARTED = 'Headgate was restarted during the command.';
const LOST = 'The active daemon was lost during the command.';

/** The next active daemon knows how the command ended. What else it refuses says nothing about the time before. */
const isFinal = (error: unknown): boolean =>
  error instanceof Unanswered || (error instanceof GatewayError && Object(error.details).nodeError !== undefined);

/** Answers for a run of a worker. */
export async function serveInvocation(
  call: NodeCall,
  { signal }: Pick<Asked, 'signal'>,
  nodes: Pick<NodeDirectory, 'invoke'>,
): Promise<FarOutcome> {
  try {
    return { kind: 'answered', result: await nodes.invoke(call, signal) };
  } catch (error) {
    if (error instanceof Unanswered) return { kind: 'unanswered', why: error.message };
    if (signal.aborted) return { kind: 'unanswered', why: 'The run was stopped.' }; // it no longer waits
    throw error;
  }
}
