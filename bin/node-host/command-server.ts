import type { NodeInvokeCancel, NodeInvokeRequest, NodeInvokeResultParams } from '../../protocol/methods/node.ts';
import { check, problemsOf } from '../../protocol/parse.ts';
import { withDeadline } from '../../src/agent/process/deadline.ts';
import { StopReason } from '../../src/agent/stop-reason.ts';
import type { Clock } from '../../src/clock.ts';
import type { Log } from '../../src/log.ts';
import { CommandProblem, type LentCommand, toProblem } from './lent-command.ts';

interface CommandServerDeps {
  commands: readonly LentCommand[];
  /** Brings the answer to the gateway, however long that takes. */
  answer(result: NodeInvokeResultParams): Promise<void>;
  /** Ends what runs. */
  stopping: AbortSignal;
  clock: Clock;
  log: Log;
}

const MAX_RUNNING = 16;
/** Ids of requests that are remembered, so that one that comes twice runs once. */
const MAX_KNOWN = 1_000;

interface CommandServer {
  onRequest(request: NodeInvokeRequest): void;
  /** Ends the command, which answers that; nothing when it is over. */
  onCancel(cancel: NodeInvokeCancel): void;
}

/** Does what the gateway asks. */
export function createCommandServer(deps: CommandServerDeps): CommandServer {
  const { answer, log } = deps;
  const known = new Set<string>();
  const running = new Map<string, AbortController>();

  async function serve(request: NodeInvokeRequest): Promise<void> {
    const cancelled = new AbortController();
    const isTooMuch = running.size >= MAX_RUNNING;
    if (!isTooMuch) running.set(request.id, cancelled);
    const stopping = AbortSignal.any([deps.stopping, cancelled.signal]);
    const result = await (isTooMuch ? tooMuch(request) : run(request, { ...deps, stopping }));
    running.delete(request.id);
    log.info({ command: request.command, ok: result.ok, code: result.error?.code }, 'a command was run');
    await answer(result);
  }

  return {
    onRequest(request) {
      if (known.has(request.id)) return;
      known.add(request.id);
      const [oldest] = known;
      if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
      serve(request).catch((error: unknown) => log.error({ err: error }, 'an answer could not be sent'));
    },
    onCancel: ({ id }) => running.get(id)?.abort(new StopReason('cancel', 'the command was cancelled')),
  };
}

async function run(request: NodeInvokeRequest, deps: CommandServerDeps): Promise<NodeInvokeResultParams> {
  const { id, nodeId, timeoutMs } = request;
  using deadline = withDeadline(deps.stopping, { clock: deps.clock, ms: timeoutMs });
  try {
    const payload = await perform(request, deps.commands, deadline.signal);
    return { id, nodeId, ok: true, payload };
  } catch (error) {
    if (!(error instanceof CommandProblem) && !deadline.signal.aborted) {
      deps.log.error({ err: error, command: request.command }, 'a command failed');
    }
    return { id, nodeId, ok: false, error: toError(error, deadline.signal) };
  }
}

async function perform(
  { command, paramsJSON }: NodeInvokeRequest,
  commands: readonly LentCommand[],
  signal: AbortSignal,
) {
  const lent = commands.find(({ name }) => name === command);
  if (lent === undefined) throw new CommandProblem('NOT_FOUND', `this node does not lend ${command}`);
  const params = check(lent.params, paramsJSON === null ? {} : JSON.parse(paramsJSON));
  if (!params.success) {
    throw new CommandProblem('INVALID_REQUEST', `invalid ${command} params: ${problemsOf(params.error)}`);
  }
  return lent.run(params.data, signal);
}

function toError(error: unknown, signal: AbortSignal): { code: string; message: string } {
  const problem = signal.aborted && !(error instanceof CommandProblem) ? toProblem(signal.reason) : error;
  if (problem instanceof CommandProblem) return { code: problem.code, message: problem.message };
  const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
  return { code: 'UNAVAILABLE', message: `the command failed on the node${code}` };
}

const tooMuch = async ({ id, nodeId }: NodeInvokeRequest): Promise<NodeInvokeResultParams> => ({
  id,
  nodeId,
  ok: false,
  error: { code: 'BUSY', message: `the node runs ${MAX_RUNNING} commands already` },
});
