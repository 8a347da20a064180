import { z } from 'zod';
import { HOOK_MOMENTS } from '../../agent/hooks/hook-command.ts';

const HookConfig = z
  .object({
    at: z.enum(HOOK_MOMENTS).describe('When it runs.'),
    tools: z
      .array(z.string().min(1).max(256))
      .min(1)
      .max(100)
      .optional()
      .describe('Names of tools, with * for any characters and ? for one. Default: all.'),
    command: z.string().min(1).max(10_000).describe('A command for bash, which reads one JSON object from stdin.'),
    timeoutSecs: z.int().min(1).max(300).default(30).describe('Its time limit in seconds.'),
    required: z
      .boolean()
      .default(false)
      .describe('Whether a call is blocked if this hook fails; only for before_tool.'),
  })
  .superRefine(({ at, tools, required }, { addIssue }) => {
    const isAboutCalls = at === 'before_tool' || at === 'after_tool';
    if (tools && !isAboutCalls)
      addIssue({ code: 'custom', path: ['tools'], message: `works only at before_tool and after_tool, not at ${at}` });
    if (required && at !== 'before_tool')
      addIssue({ code: 'custom', path: ['required'], message: `works only at before_tool, not at ${at}` });
  });

/** Commands that run at moments of runs. */
export const HooksConfig = z
  .array(HookConfig)
  .max(50)
  .default([])
  .describe('Commands that run before and after calls of tools, at the end of a run, and when a question waits.');
