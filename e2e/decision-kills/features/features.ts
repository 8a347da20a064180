import type { Feature } from '../kill-feature.ts';
import { MEMORIES, QUARANTINE } from './memory.ts';
import { PLANS } from './plan.ts';
import { SPAWNS } from './spawn.ts';
import { TASKS } from './task.ts';
import { toolCalls } from './tool.ts';
import { WATCHES } from './watch.ts';

/** What a daemon is killed in, by mode. */
export const FEATURES = {
  task: () => TASKS,
  spawn: () => SPAWNS,
  plan: () => PLANS,
  watch: () => WATCHES,
  memory: () => MEMORIES,
  quarantine: () => QUARANTINE,
  tool: toolCalls,
} as const satisfies Record<string, () => Feature>;

export const isFeature = (mode: string): mode is keyof typeof FEATURES => Object.hasOwn(FEATURES, mode);
