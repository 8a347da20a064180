/** When a hook runs. */
export const HOOK_MOMENTS = ['before_tool', 'after_tool', 'run_end', 'attention'] as const;
export type HookMoment = (typeof HOOK_MOMENTS)[number];

/** A command of the configuration that runs at a moment. */
export interface HookCommand {
  at: HookMoment;
  /** Patterns of the names of tools; absent: all. */
  tools?: readonly string[] | undefined;
  /** For bash; it reads one JSON object from its standard input. */
  command: string;
  timeoutSecs: number;
  /** Without an answer of this hook, the call does not run. */
  required?: boolean;
}

const MAX_NAME = 80;

/** How texts name a hook: the first line of its command. */
export const nameOf = ({ command }: HookCommand): string => (command.trim().split('\n')[0] ?? '').slice(0, MAX_NAME);
