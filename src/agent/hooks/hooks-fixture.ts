import type { RunHooks } from './hooked-run.ts';

/** The hooks of a run where the configuration has none. */
export const NO_HOOKS: RunHooks = {
  beforeTool: async () => undefined,
  hasAfterTool: () => false,
  afterTool: async (_call, result) => result,
  onAttention: () => undefined,
  onEnd: () => undefined,
};
