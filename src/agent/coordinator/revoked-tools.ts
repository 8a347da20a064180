import { allNamesOf } from '../tools/called-names.ts';
import type { Prepared, ToolOutcome } from '../tools/tool.ts';
import type { Toolbox } from '../tools/toolbox.ts';

/**
 * A toolbox some of whose tools a person has taken away. Models are still told of them, because the tools of a conversation
 * stay as they were; a call is refused, also if another tool makes it, at once or later. It is looked up again when the call
 * begins, because an approval may have waited.
 */
export const withoutRevoked = (toolbox: Toolbox, revoked: () => Promise<readonly string[]>): Toolbox => ({
  ready: async (signal) => toolbox.ready?.(signal),
  definitions: () => toolbox.definitions(),
  isFound: (name) => toolbox.isFound?.(name) ?? false,
  async prepare(call, context) {
    const prepared = await toolbox.prepare(call, context);
    if (prepared.kind === 'refused') return prepared;
    const { tool, canonicalArguments, subject } = prepared;
    const names = allNamesOf(call, prepared);
    const find = async () => findRevoked(names, await revoked());
    const name = await find();
    if (name !== undefined)
      return { kind: 'refused', subject, reason: reasonFor(name), canonicalArguments, ...(tool && { tool }) };
    return { ...prepared, execute: unlessRevoked(prepared, find) };
  },
});

/** The first of these names that was revoked. */
export const findRevoked = (names: readonly string[], revoked: readonly string[]): string | undefined =>
  names.find((name) => revoked.includes(name));

type Ready = Extract<Prepared, { kind: 'ready' }>;

const unlessRevoked =
  ({ execute }: Ready, find: () => Promise<string | undefined>): Ready['execute'] =>
  async (run): Promise<ToolOutcome> => {
    const name = await find();
    return name === undefined ? execute(run) : { output: reasonFor(name), outcome: 'blocked' };
  };

const reasonFor = (name: string): string =>
  `The tool ${name} was revoked for this coordinator and everything that works for it. Only another workstream can use it.`;
