import { z } from 'zod';
import { HealthSummary } from '../methods/health.ts';
import { RunOutcome } from '../run-outcome.ts';
import { WorkstreamState } from '../stream-events.ts';
import { event } from './coordination/event-row.ts';

/** What a workstream does now, for lists. `tool` and `approval` name the call in `activity`. */
export const activityShape = {
  activity: z.string(),
  activity_state: z.enum(['', 'thinking', 'tool', 'approval']),
};

/** What lists show of a workstream, as it was at its last answer. */
export const usageShape = {
  tokens: z.int().min(0),
  /** The used part of the context window, from 0; 0 if nothing is known. */
  context_ratio: z.number().min(0),
};

/** The events of the global stream. They have no id: for a slow reader, the latest replaces earlier ones of its type. */
export const GLOBAL_EVENTS = {
  ws_state: event(
    'ws_state',
    {
      ws_id: z.string(),
      state: WorkstreamState,
      run: RunOutcome.optional(),
      ...usageShape,
      ...activityShape,
      /** The answer of the run that has ended, its first 262 144 characters. */
      content: z.string().optional(),
    },
    'GlobalWsState',
  ),
  ws_activity: event('ws_activity', { ws_id: z.string(), ...activityShape }, 'GlobalWsActivity'),
  ws_rename: event('ws_rename', { ws_id: z.string(), name: z.string() }, 'GlobalWsRename'),
  /** It was created or loaded; its `ws_state` follows. */
  ws_created: event('ws_created', { ws_id: z.string(), name: z.string() }, 'GlobalWsCreated'),
  ws_closed: event(
    'ws_closed',
    { ws_id: z.string(), name: z.string(), reason: z.enum(['evicted', 'closed']) },
    'GlobalWsClosed',
  ),
  /** The default model, or the store, has failed or works again. Without a workstream, unlike the others. */
  health_changed: event(
    'health_changed',
    {
      status: HealthSummary.shape.status,
      backend: z.object({
        status: HealthSummary.shape.backend.shape.status,
        circuit_state: HealthSummary.shape.backend.shape.circuitState,
      }),
    },
    'GlobalHealthChanged',
  ),
} as const;

type GlobalRows = typeof GLOBAL_EVENTS;
/** Any event of the global stream. */
export type GlobalEvent = { [T in keyof GlobalRows]: z.infer<GlobalRows[T]> }[keyof GlobalRows];
/** An event of one type. */
export type GlobalEventOf<T extends keyof GlobalRows> = z.infer<GlobalRows[T]>;
