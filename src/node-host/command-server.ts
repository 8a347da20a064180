import type { NodeInvokeCancel, NodeInvokeRequest, NodeInvokeResultParams } from '../../protocol/methods/node.ts';
import { check, problemsOf } from '../../protocol/parse.ts';
import { withDeadline } from '../agent/process/deadline.ts';
import { StopReason } from '../agent/stop-reason.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { CommandProblem, type LentCommand, toProblem } from './lent-command.ts';

interface CommandServerDeps {
  commands: readonly LentCommand[];
  /** Sends the answer to the gateway, and retries until aborted. */
  answer(result: NodeInvokeResultParams, signal: AbortSignal): Promise<void>;
  clock: Clock;
  log: Log;
}

const MAX_RUNNING = 16;
/** How many request ids are remembered, so that a repeated request runs once. */
const MAX_KNOWN = 1_000;
/** Longer than it takes to kill a program. */
const CLOSE_MS = 5_000;

interface CommandServer {
  onRequest(request: NodeInvokeRequest): void;
  /** Stops the command, which then answers CANCELLED. Does nothing if it has ended. */
  onCancel(cancel: NodeInvokeCancel): void;
  /** Stops all commands without answering. Resolves when they have ended, or after five seconds. */
  close(): Promise<void>;
}

/** Runs the commands that the gateway sends. */
export function createCommandServer(deps: CommandServerDeps): CommandServer {
  const { commands, answer, clock, log } = deps;
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
    const ended = run(request, { commands, clock, log, stopping });
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
      const late = clock.sleep(CLOSE_MS, over.signal).catch(() => undefined); // aborted: all have ended
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

/** A command is stopped this long before the gateway's timeout, so that its partial result arrives in time. */
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
  error: { code: 'BUSY', message: `the node is already running ${MAX_RUNNING} commands` },
});
