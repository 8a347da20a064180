import { z } from 'zod';

/** What a label looks like, for messages about one that cannot be used. */
const LABEL_FORM =
  'must have 1 to 32 lower-case letters, digits, ".", "_" or "-", and begin and end with a letter or digit';

/** Labels of one machine, or that one workstream needs. */
const MOST_LABELS = 16;

/** Properties of machines, such as `gpu` or `eu`. The order and repetitions mean nothing. */
export const MachineLabels = z
  .array(z.string().regex(/^[a-z0-9](?:[a-z0-9._-]{0,30}[a-z0-9])?$/, LABEL_FORM))
  .max(MOST_LABELS);

/** Why a workstream runs nowhere now. It waits for its machine, or for an active machine that can have it. */
export const Waiting = z
  .strictObject({
    /** `labels`: the active machine lacks labels that it needs. `folder`: the active machine does not have its folder. */
    reason: z.enum(['labels', 'folder']),
    /** The machine that had it last. */
    nodeId: z.string(),
    /** Of the reason `labels`. */
    missingLabels: z.array(z.string()).optional(),
    /** The same in words. */
    message: z.string(),
  })
  .meta({ id: 'Waiting' });
export type Waiting = z.infer<typeof Waiting>;

const Details = z.object({ waiting: Waiting });

/** Why a call about a workstream was refused, from the `details` of the error; undefined for other errors. */
export const findWaiting = (details: unknown): Waiting | undefined => Details.safeParse(details).data?.waiting;

/** Each label once, in the order of the alphabet. */
export const toLabels = (given: readonly string[]): string[] => [...new Set(given)].sort();

/** Labels in words, such as `labels "eu" and "gpu"`. */
export function labelWords(labels: readonly string[]): string {
  const quoted = labels.map((label) => `"${label}"`);
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? `label ${last}` : `labels ${quoted.join(', ')} and ${last}`;
}
