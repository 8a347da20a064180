import { z } from 'zod';
import { Taint } from '../../../protocol/events/rules.ts';

/** Who saved a memory, as it is stored with it. */
const MemoryOrigin = z.object({
  by: z.enum(['person', 'agent']),
  /** Somebody vouches for the text: a caller with the scope `approve`, or an agent that had read nothing untrusted. */
  isTrusted: z.boolean(),
  /** The workstream of the agent, and its call. */
  wsId: z.string().optional(),
  callId: z.string().optional(),
  /** What the agent had read. */
  taint: Taint.optional(),
});
export type MemoryOrigin = z.infer<typeof MemoryOrigin>;

/** Undefined for memories of earlier versions: nobody knows who saved them. */
export function readOrigin(json: string | null): MemoryOrigin | undefined {
  return json === null ? undefined : MemoryOrigin.parse(JSON.parse(json));
}
