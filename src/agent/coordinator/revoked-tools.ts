import type { Prepared, ToolOutcome } from '../tools/tool.ts';
import type { Toolbox } from '../tools/toolbox.ts';

/**
 * A toolbox some of whose tools a person has taken away. Models are still told of them, because the tools of a conversation
 * stay as they were; a call is refused. It is looked up again when the call begins, because an approval may have waited.
 */
export const withoutRevoked = (toolbox: Toolbox, isRevoked: (tool: string) => Promise<boolean>): Toolbox => ({
  ready: async (signal) => toolbox.ready?.(signal),
  definitions: () => toolbox.definitions(),
  async prepare(call, context) {
    const prepared = await toolbox.prepare(call, context);
    if (prepared.kind === 'refused') return prepared;
    const { tool, canonicalArguments, subject } = prepared;
    if (await isRevoked(call.name))
      return { kind: 'refused', subject, reason: reasonFor(call.name), canonicalArguments, ...(tool && { tool }) };
    return { ...prepared, execute: unlessRevoked(prepared, () => isRevoked(call.name), call.name) };
  },
});

type Ready = Extract<Prepared, { kind: 'ready' }>;

const unlessRevoked =
  ({ execute }: Ready, isRevoked: () => Promise<boolean>, name: string): Ready['execute'] =>
  async (run): Promise<ToolOutcome> =>
    (await isRevoked()) ? { output: reasonFor(name), outcome: 'blocked' } : execute(run);

const reasonFor = (name: string): string =>
  `The tool ${name} was revoked for this coordinator and everything that works for it. Only another workstream can use it.`;
