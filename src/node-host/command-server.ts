import type { NodeInvokeCancel, NodeInvokeRequest, NodeInvokeResultParams } from '../../protocol/methods/node.ts';
import { check, problemsOf } from '../../protocol/parse.ts';
import { withDeadline } from '../agent/process/deadline.ts';
import { StopReason } from '../agent/stop-reason.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { CommandProblem, type LentCommand, toProblem } from './lent-command.ts';

interface CommandServerDeps {
  commands: readonly LentCommand[];
  /** Brings the answer to the gateway, however long that takes, until aborted. */
  answer(result: NodeInvokeResultParams, signal: AbortSignal): Promise<void>;
  clock: Clock;
  log: Log;
}

const MAX_RUNNING = 16;
/** Ids of requests that are remembered, so that one that comes twice runs once. */
const MAX_KNOWN = 1_000;
/** Longer than a program takes that has to be killed. */
const CLOSE_MS = 5_000;

interface CommandServer {
  onRequest(request: NodeInvokeRequest): void;
  /** Ends the command, which answers that; nothing when it is over. */
  onCancel(cancel: NodeInvokeCancel): void;
  /** Ends whatever runs, and answers no more. Resolves when it has ended, or after five seconds. */
  close(): Promise<void>;
}

/** Does what the gateway asks. */
export function createCommandServer(deps: CommandServerDeps): CommandServer {
  const { answer, clock, log } = deps;
  const known = new Set<string>();
  const running = new Map<string, Running>();
  const closing = new AbortController();

  async function serve(request: NodeInvokeRequest): Promise<void> {
    const result = await (running.size >= MAX_RUNNING ? tooMuch(request) : perform(request));
    log.info({ command: request.command, ok: result.ok, code: result.error?.code }, 'a command was run');
    if (!closing.signal.aborted) await answer(result, closing.signal);
  }

  async function perform(request: NodeInvokeRequest): Promise<NodeInvokeResultParams> {
    const cancelled = new AbortController();
    const stopping = AbortSignal.any([closing.signal, cancelled.signal]);
    const ended = run(request, { ...deps, stopping });
    running.set(request.id, { cancelled, ended });
    return ended.finally(() => running.delete(request.id));
  }

  return {
    onRequest(request) {
      if (closing.signal.aborted || known.has(request.id)) return;
      known.add(request.id);
      const [oldest] = known;
      if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
      serve(request).catch((error: unknown) => log.error({ err: error }, 'an answer could not be sent'));
    },
    onCancel: ({ id }) => running.get(id)?.cancelled.abort(new StopReason('cancel', 'the command was cancelled')),
    async close() {
      closing.abort(new Error('the node stops'));
      const over = new AbortController();
      const late = clock.sleep(CLOSE_MS, over.signal).catch(() => undefined); // all have ended before
      await Promise.race([late, Promise.allSettled([...running.values()].map(({ ended }) => ended))]);
      over.abort();
    },
  };
}

interface Running {
  cancelled: AbortController;
  ended: Promise<NodeInvokeResultParams>;
}

type RunDeps = Pick<CommandServerDeps, 'commands' | 'clock' | 'log'> & { stopping: AbortSignal };

async function run(request: NodeInvokeRequest, deps: RunDeps): Promise<NodeInvokeResultParams> {
  const { id, nodeId, timeoutMs } = request;
  using deadline = withDeadline(deps.stopping, { clock: deps.clock, ms: timeoutMs - headStartMs(timeoutMs) });
  try {
    const payload = await runCommand(request, deps.commands, deadline.signal);
    return { id, nodeId, ok: true, payload };
  } catch (error) {
    if (!(error instanceof CommandProblem) && !deadline.signal.aborted) {
      deps.log.error({ err: error, command: request.command }, 'a command failed');
    }
    return { id, nodeId, ok: false, error: toError(error, deadline.signal) };
  }
}

/** A command ends that much before the gateway stops waiting for it, so that what it has done so far arrives in time. */
const headStartMs = (timeoutMs: number): number => Math.min(1_000, timeoutMs / 5);

async function runCommand(
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
