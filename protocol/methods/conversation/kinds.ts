import { z } from 'zod';

/** `coordinator`: its agent has other workstreams work, which are its children. */
export const WORKSTREAM_KINDS = ['interactive', 'coordinator'] as const;
/** One of WORKSTREAM_KINDS. */
export type WorkstreamKind = (typeof WORKSTREAM_KINDS)[number];

/** The fields of a row for what is not usual about the kind of a workstream. */
export const KIND_FIELDS = {
  /** Absent: `interactive`. */
  kind: z.literal('coordinator').optional(),
  /** The coordinator that it works for; absent: none. */
  parentWsId: z.string().optional(),
};

/** KIND_FIELDS of a workstream. */
export const kindOf = ({ kind, parentWsId }: { kind: WorkstreamKind; parentWsId: string | null }) => ({
  ...(kind === 'coordinator' && { kind: 'coordinator' as const }),
  ...(parentWsId !== null && { parentWsId }),
});
