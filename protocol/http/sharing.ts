import { z } from 'zod';
import { VISIBILITIES } from '../methods/conversation/sharing.ts';
import { endpoint } from './endpoint.ts';

/** The fields of a workstream about its owner. */
export const OWNED_FIELDS = {
  /** Its owner; empty: the operator. */
  user_id: z.string(),
  /** Who sees it: everyone here, or only the owner and holders of `workstreams.all`. */
  visibility: z.enum(VISIBILITIES),
};

/** Who sees a workstream. */
export const sharingEndpoints = {
  share: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/share',
    summary: 'Set who sees a workstream, or give it to another owner. For its owner, and holders of `workstreams.all`.',
    scope: 'write',
    request: () =>
      z.object({
        ws_id: z.string(),
        visibility: z.enum(VISIBILITIES).nullish(),
        /** The new owner: a user, or empty for the operator. */
        user_id: z.string().nullish(),
      }),
    reply: () => z.object({ ws_id: z.string(), ...OWNED_FIELDS }),
    errors: {
      400: 'The main session and the sessions of jobs stay shared, and the operator’s',
      403: 'Only the owner of this workstream, and holders of workstreams.all, may change who sees it',
      404: 'Unknown workstream',
      409: 'That name is already used by another workstream',
    },
  }),
};
