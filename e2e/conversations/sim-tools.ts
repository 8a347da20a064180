import { z } from 'zod';
import { testGuard } from '../../src/agent/guard/guard-fixture.ts';
import type { Tool } from '../../src/agent/tools/tool.ts';
import { createToolbox, type Toolbox } from '../../src/agent/tools/toolbox.ts';

/** What an update may change about the tools. */
export interface ToolRelease {
  /** A number in the descriptions. */
  version: number;
  /** `touch` takes a further argument. */
  hasDepth: boolean;
  /** There is a third tool. */
  hasThird: boolean;
}

/** `look` runs at once and is safe to repeat, `touch` asks first. Their output is as long as the call says. */
export function toolsOf({ version, hasDepth, hasThird }: ToolRelease): Toolbox {
  const names = ['look', 'touch', ...(hasThird ? ['listen'] : [])];
  return createToolbox(
    names.map((name) => toolOf(name, { version, hasDepth: hasDepth && name === 'touch' })),
    testGuard(),
  );
}

function toolOf(name: string, { version, hasDepth }: { version: number; hasDepth: boolean }) {
  const parameters = z.object({
    text: z.string().default(''),
    chars: z.number().default(10),
    ...(hasDepth && { depth: z.number().default(1) }),
  });
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
      needsApproval: name === 'touch',
      execute: async () => ({
        output: `${name}ed ${text} ${'x'.repeat(chars)}`,
        outcome: text.endsWith('7') ? 'failed' : 'done',
      }),
    }),
  };
  return tool;
}
