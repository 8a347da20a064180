import type { UsageGrouping } from '../../../protocol/methods/usage.ts';

/** What `headgate usage --by` accepts. A file of its own, because every start of the command line loads it. */
export const USAGE_GROUPINGS = ['day', 'model', 'principal', 'workstream', 'run'] as const satisfies UsageGrouping[];
