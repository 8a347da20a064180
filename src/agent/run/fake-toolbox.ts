import { z } from 'zod';
import { NO_RUN_MEMORIES } from '../memory/memory-source.ts';
import type { ToolCall } from '../message.ts';
import type { ToolOutcome, ToolRun } from '../tools/tool.ts';
import type { PreparedCall, Toolbox } from '../tools/toolbox.ts';
import { USUAL_LIMITS } from './limits/wrap-up.ts';
import type { RunContext } from './run-context.ts';

/** For runs without attachments. */
export const NO_FILES: Pick<RunContext, 'readAttachment' | 'keepImages'> = {
  readAttachment: async () => undefined,
  keepImages: () => Promise.reject(new Error('no files here')),
};
/** For runs that neither are nor have sub-agents. */
export const ALONE: Pick<RunContext, 'limits' | 'subAgents' | 'coordination' | 'callIdSuffix' | 'skills' | 'memories'> =
  {
    limits: USUAL_LIMITS,
    subAgents: undefined,
    coordination: undefined,
    callIdSuffix: undefined,
    skills: async () => undefined,
    memories: NO_RUN_MEMORIES,
  };
/** For runs whose changes of files are not stored. */
export const NO_CHECKPOINT: RunContext['checkpoint'] = { before: async () => undefined, ended: async () => undefined };

type ReadyCall = Extract<PreparedCall, { kind: 'ready' }>;

/** What a fake tool does; all fields have harmless defaults. */
export interface FakeTool {
  needsApproval?: boolean;
  /** Default: the name of the tool. */
  label?: string;
  readOnly?: boolean;
  safeToRepeat?: boolean;
  refuses?: string;
  bindTo?: string;
  /** What is known about a call before it runs. */
  known?(call: ToolCall): Pick<ReadyCall, 'reading' | 'matched' | 'sandboxOff' | 'question' | 'calls' | 'runsLater'>;
  execute?(run: ToolRun, call: ToolCall): Promise<ToolOutcome> | ToolOutcome;
}

export function fakeToolbox(tools: Record<string, FakeTool>): Toolbox {
  return {
    definitions: () => [],
    async prepare(call): Promise<PreparedCall> {
      const tool = tools[call.name] ?? {};
      const { needsApproval = false, readOnly = false, safeToRepeat = false, refuses, bindTo, execute } = tool;
      const shown = { subject: call.id, canonicalArguments: call.arguments };
      if (refuses !== undefined) return { kind: 'refused', reason: refuses, ...shown };
      return {
        kind: 'ready',
        ...shown,
        preview: '',
        approvalLabel: tool.label ?? call.name,
        needsApproval,
        ...(bindTo !== undefined && { bindTo }),
        ...tool.known?.(call),
        execute: async (toolRun) => execute?.(toolRun, call) ?? { output: `${call.id} ran`, outcome: 'done' },
        tool: { ...UNUSED, name: call.name, readOnly, safeToRepeat },
      };
    },
  };
}

/** Only these three fields of a prepared call's tool are read. */
const UNUSED = {
  description: '',
  parameters: z.unknown(),
  prepare: () => Promise.reject(new Error('not called here')),
};
