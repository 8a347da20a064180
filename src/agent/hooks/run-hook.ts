import type { OutputGuard } from '../guard/output-guard.ts';
import type { ProcessRunner } from '../process/runner.ts';
import type { SandboxTier } from '../process/sandbox.ts';
import { runConfigured, toEndingWords, toWord } from '../tools/diagnostics/configured-command.ts';
import type { CommandAudit } from '../tools/shell/bash-arguments.ts';
import type { HookAnswer } from './hook-answer.ts';
import { readAnswer } from './hook-answer.ts';
import type { HookCommand } from './hook-command.ts';
import { openHookNetwork } from './hook-network.ts';
import type { HookedRun } from './hooked-run.ts';

export interface HookRunner {
  runner: ProcessRunner;
  guard: Pick<OutputGuard, 'clean'>;
  audit: Pick<CommandAudit, 'onConnection'>;
  /** Read at each use. */
  live: { readonly sandboxTier: SandboxTier; readonly allowedHosts: readonly string[] };
}

interface HookInput {
  hook: HookCommand;
  /** What it reads from its standard input. */
  text: string;
  /** The call that it is about; empty if it is about none. */
  callId: string;
  signal: AbortSignal;
}

export type HookEnd =
  | { kind: 'answered'; answer: HookAnswer; hasNetwork: boolean }
  /** `said`: the beginning of what it printed. */
  | { kind: 'failed'; why: string; said: string };

const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_SAID = 500;

/** Runs a hook in the sandbox. Rejects when its end cannot be known, and with the signal's reason. */
export async function runHook(
  { hook, text, callId, signal }: HookInput,
  { wsId, workdir, ruleOn }: HookedRun,
  { runner, guard, audit, live }: HookRunner,
): Promise<HookEnd> {
  if (runner.sandbox.kind === 'none') return failed('was not run, because there is no sandbox');
  const { folder, readable } = await workdir.check();
  const network = openHookNetwork({
    allowedHosts: () => live.allowedHosts,
    ruleOn,
    onConnection: (connection) =>
      audit.onConnection({ ...connection, host: guard.clean(connection.host), wsId, callId }),
  });
  const { result, bytes, total } = await runConfigured(
    {
      command: withOwnErrors(hook.command),
      folder,
      timeoutMs: hook.timeoutSecs * 1_000,
      stdin: text,
      access: { others: readable, areOthersReadOnly: true, tier: live.sandboxTier, writable: [] },
      network,
    },
    // What a daemon that dies leaves of it is ended with the sandbox, and at the latest by the next daemon.
    { runner, signal, onProcess: async () => undefined, maxBytes: MAX_ANSWER_BYTES },
  );
  signal.throwIfAborted();
  const printed = bytes.toString('utf8');
  const said = guard.clean(printed).slice(0, MAX_SAID).toWellFormed();
  if (result.kind !== 'exited' || result.exitCode !== 0)
    return failed(`did not answer: ${toEndingWords(result, hook.timeoutSecs)}`, said);
  if (total > MAX_ANSWER_BYTES) return failed(`printed more than ${MAX_ANSWER_BYTES} bytes`, said);
  const read = readAnswer(hook.at, printed);
  if (read.kind === 'unreadable') return failed(`did not answer: ${read.why}`, said);
  return { kind: 'answered', answer: read.answer, hasNetwork: network !== undefined };
}

const failed = (why: string, said = ''): HookEnd => ({ kind: 'failed', why, said: said.trim() });

/** Keeps warnings apart from the answer. They follow what it printed if it fails. */
const withOwnErrors = (command: string): string =>
  `"$BASH" --noprofile --norc -c ${toWord(command)} 2>/tmp/.headgate-hook || { code=$?; cat /tmp/.headgate-hook; exit $code; }`;
