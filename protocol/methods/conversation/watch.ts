import { z } from 'zod';
import { contract } from '../../contract.ts';
import { Watch } from '../../events/watch.ts';
import { NonEmpty, optionalText } from '../../frames.ts';

const WatchList = z.strictObject({
  /** The newest first. */
  watches: z.array(Watch),
});

/** The commands that the agent has polled until something happens. The event `watch` reports their changes. */
export const watchContracts = {
  'watch.list': contract({
    summary: 'The active watches, of one workstream or of all.',
    scope: 'write',
    params: () =>
      z
        .strictObject({
          wsId: optionalText(),
          /** Also those that have ended: the latest 50 of a workstream. */
          ended: z.boolean().optional(),
          /** Only those that this daemon polls. */
          here: z.boolean().optional(),
        })
        .meta({ id: 'WatchListParams' }),
    result: () => WatchList.meta({ id: 'WatchListResult' }),
  }),
  'watch.cancel': contract({
    summary: 'End a watch, and its poll if one runs.',
    scope: 'write',
    params: () =>
      z
        .strictObject({
          watchId: NonEmpty.max(128),
          /** Refused if another daemon polls it. */
          here: z.boolean().optional(),
        })
        .meta({ id: 'WatchCancelParams' }),
    result: () =>
      z
        .strictObject({
          /** False: it had ended before. */
          cancelled: z.boolean(),
          watch: Watch,
        })
        .meta({ id: 'WatchCancelResult' }),
  }),
  'watch.admin.list': contract({
    summary: 'All watches for administration, also those that have ended.',
    scope: 'approve',
    permission: 'admin.watches',
    params: () =>
      z
        .strictObject({ wsId: optionalText(), limit: z.int().min(1).max(500).optional() })
        .meta({ id: 'WatchAdminListParams' }),
    result: () => WatchList.meta({ id: 'WatchAdminListResult' }),
  }),
};
