import { z } from 'zod';
import { contract } from '../../contract.ts';
import { NonEmpty } from '../../frames.ts';

/** Who perceives a workstream: everyone here, or only its owner and those who see everything. */
export const VISIBILITIES = ['shared', 'private'] as const;
/** One of VISIBILITIES. */
export type Visibility = (typeof VISIBILITIES)[number];

/** The fields of a workstream about its owner. */
export const OWNED = {
  /** Its owner; empty: the operator. A deleted user stays the owner. */
  userId: z.string(),
  visibility: z.enum(VISIBILITIES),
};

/** Who sees a workstream, and whose it is. */
export const sharingContracts = {
  'workstream.share': contract({
    summary: 'Set who sees a workstream, or give it to another owner. For its owner, and holders of `workstreams.all`.',
    scope: 'write',
    audit: { action: 'workstream.share', id: 'wsId', by: 'handler' },
    params: () =>
      z
        .strictObject({
          wsId: z.string(),
          visibility: z.enum(VISIBILITIES).optional(),
          /** The new owner: a user, or empty for the operator. */
          userId: z.string().max(128).optional(),
        })
        .meta({ id: 'WorkstreamShareParams' }),
    result: () =>
      z
        .strictObject({
          wsId: NonEmpty,
          ...OWNED,
          /** Whether the caller still perceives it. */
          perceived: z.boolean(),
        })
        .meta({ id: 'WorkstreamShareResult' }),
  }),
};
