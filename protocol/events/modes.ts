/**
 * How much of what the agent does in a workstream runs without asking. `ask`: what is harmless; `read_only`: the same, and
 * everything else is blocked; `edits`: also changes in the folders of the workstream; `auto`: also what the judge approves;
 * `full`: everything that no rule denies.
 */
export const MODES = ['ask', 'read_only', 'edits', 'auto', 'full'] as const;
/** One of MODES. */
export type Mode = (typeof MODES)[number];

/** Whether a mode lets calls run that would ask otherwise. */
export const isWide = (mode: Mode | undefined): boolean => mode === 'edits' || mode === 'auto' || mode === 'full';
