import { z } from 'zod';
import { contract } from '../contract.ts';
import { optionalText } from '../frames.ts';
import { WorkstreamSnapshot } from './workstream.ts';

/** The users who see a workstream now, each once, in the order in which they came; empty text: the operator. */
export const ViewerIds = z.array(z.string());

/** Methods to follow the event log of a workstream over this connection. */
export const eventsContracts = {
  'events.subscribe': contract({
    summary: 'Follow one workstream. The answer comes before its first event; events arrive as `workstream`.',
    scope: 'read',
    weight: 3,
    params: () => z.strictObject({ wsId: z.string(), after: optionalText() }).meta({ id: 'EventsSubscribeParams' }),
    result: () =>
      z
        .strictObject({
          /** The events that follow come after this cursor. */
          cursor: z.string(),
          recovered: z.boolean(),
          /** Why `after` could not be resumed. */
          reason: z.enum(['expired', 'epoch', 'ahead']).optional(),
          /** The state at `cursor`, unless the log was resumed. */
          snapshot: WorkstreamSnapshot.optional(),
        })
        .meta({ id: 'EventsSubscribeResult' }),
  }),
  'events.unsubscribe': contract({
    summary: 'Stop following a workstream.',
    scope: 'read',
    params: () => z.strictObject({ wsId: z.string() }).meta({ id: 'EventsUnsubscribeParams' }),
    result: () => z.strictObject({ ok: z.literal(true), removed: z.boolean() }).meta({ id: 'EventsUnsubscribeResult' }),
  }),
  'events.view': contract({
    summary: 'Say which workstream a person sees over this connection, or none; the answer lists who sees it now.',
    scope: 'read',
    params: () =>
      z
        .strictObject({
          /** Absent: none. It replaces the workstream of the last call. */
          wsId: optionalText(),
        })
        .meta({ id: 'EventsViewParams' }),
    result: () => z.strictObject({ userIds: ViewerIds }).meta({ id: 'EventsViewResult' }),
  }),
};
