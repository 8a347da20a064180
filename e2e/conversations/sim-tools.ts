import { z } from 'zod';
import type { BackgroundCommands } from '../../src/agent/background/background-commands.ts';
import { testGuard } from '../../src/agent/guard/guard-fixture.ts';
import type { ProcessHooks, ProcessResult } from '../../src/agent/process/runner.ts';
import { StopReason } from '../../src/agent/stop-reason.ts';
import { coordinatorTools } from '../../src/agent/tools/coordinator/coordinator-tools.ts';
import { createApplyPatchTool } from '../../src/agent/tools/edits/apply-patch.ts';
import type { Confinement } from '../../src/agent/tools/files/confinement.ts';
import { askUserTool } from '../../src/agent/tools/person/ask-user.ts';
import type { Tool, ToolContext, ToolOutcome } from '../../src/agent/tools/tool.ts';
import { createToolbox, type Toolbox } from '../../src/agent/tools/toolbox.ts';
import { toHostReading } from '../../src/agent/tools/web/host-reading.ts';
import { type AgentWorld, agentTools, manyTools } from './besides/agent-tools.ts';

/** What an update may change about the tools. */
export interface ToolRelease {
  /** A number in the descriptions. */
  version: number;
  /** `touch` takes a further argument. */
  hasDepth: boolean;
  /** There is a further tool. */
  hasThird: boolean;
}

/** What the tools of a machine work on. */
export interface ToolWorld extends AgentWorld {
  confinement: Confinement;
  /** Those of the process that runs now. */
  commands(): BackgroundCommands;
  /** Ends a command that runs in the background. */
  running: Set<() => void>;
}

/**
 * `look` runs at once and is safe to repeat, `touch` asks first, and so does `fetch`, whose output nobody trusts. Their output
 * is as long as the call says. `start` begins a background command. Patches, questions,
 * sub-agents, plans, coordinators and what agents know are those of the daemon.
 */
export function toolsOf({ version, hasDepth, hasThird }: ToolRelease, world: ToolWorld): Toolbox {
  const names = ['look', 'touch', 'fetch', ...(hasThird ? ['listen'] : [])];
  return createToolbox(
    [
      ...names.map((name) => toolOf(name, { version, hasDepth: hasDepth && name === 'touch' })),
      startTool(world),
      createApplyPatchTool(world),
      askUserTool,
      ...agentTools(version, world),
      ...coordinatorTools(),
    ],
    testGuard(),
    manyTools(version),
  );
}

function toolOf(name: string, { version, hasDepth }: { version: number; hasDepth: boolean }) {
  const parameters = z.object({
    text: z.string().default(''),
    chars: z.number().default(10),
    ...(hasDepth && { depth: z.number().default(1) }),
  });
  const asks = name === 'touch' || name === 'fetch';
  const tool: Tool<z.infer<typeof parameters>> = {
    name,
    description: `Version ${version} of ${name}.`,
    parameters,
    readOnly: name !== 'touch',
    safeToRepeat: name !== 'touch',
    prepare: async ({ text, chars }) => ({
      kind: 'ready',
      subject: text,
      preview: '',
      approvalLabel: name,
      needsApproval: asks,
      ...(name === 'fetch' && { reading: toHostReading('a.example') }),
      execute: async () => ({
        output: `${name}ed ${text} ${'x'.repeat(chars)}`,
        outcome: text.endsWith('7') ? 'failed' : 'done',
      }),
    }),
  };
  return tool;
}

const StartArguments = z.object({ text: z.string() });

function startTool({ commands, running }: ToolWorld): Tool<z.infer<typeof StartArguments>> {
  return {
    name: 'start',
    description: 'Starts something in the background.',
    parameters: StartArguments,
    readOnly: false,
    safeToRepeat: false,
    prepare: async ({ text }, context) => ({
      kind: 'ready',
      subject: text,
      preview: '',
      approvalLabel: 'start',
      needsApproval: true,
      execute: () => start(text, context, { commands, running }),
    }),
  };
}

async function start(
  command: string,
  { wsId, callId }: ToolContext,
  { commands, running }: Pick<ToolWorld, 'commands' | 'running'>,
): Promise<ToolOutcome> {
  const started = await commands().start({
    ...{ wsId, callId, command, timeoutMs: 1_000_000_000, taint: undefined },
    run: (hooks) => runUntilEnded(hooks, running),
    refused: () => [],
  });
  return started.kind === 'refused'
    ? { output: started.reason, outcome: 'failed' }
    : { output: `It runs as ${started.run.id}.`, outcome: 'done' };
}

/** A process that prints something and runs until the simulation, or the daemon, ends it. */
async function runUntilEnded(
  { signal, onProcess, onOutput }: ProcessHooks,
  running: Set<() => void>,
): Promise<ProcessResult> {
  await onProcess({ pid: 4_000_000, startTicks: 1 });
  await onOutput(Buffer.from('printed\n'));
  const { promise, resolve } = Promise.withResolvers<ProcessResult>();
  const exit = () => resolve({ kind: 'exited', exitCode: 0 });
  const stop = () => resolve({ kind: 'stopped', reason: reasonOf(signal) });
  running.add(exit);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return promise.finally(() => running.delete(exit));
}

const reasonOf = ({ reason }: AbortSignal): StopReason =>
  reason instanceof StopReason ? reason : new StopReason('cancel', String(reason));
