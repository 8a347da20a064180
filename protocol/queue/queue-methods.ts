import { z } from 'zod';
import { contract } from '../contract.ts';
import { NonEmpty, optionalKey } from '../frames.ts';
import { Attachment, RunSource } from '../stream-events.ts';

/** A message that waits until its workstream is free. */
export const QueuedMessage = z
  .strictObject({
    /** Its run will have this id. */
    runId: NonEmpty,
    message: z.string(),
    source: RunSource,
    /** The user who sent it; absent for the operator, the daemon and people of chats who are no users. */
    sender: z.string().optional(),
    attachments: z.array(Attachment).optional(),
    /** It goes to the run in progress, before the model's next turn. */
    steer: z.literal(true).optional(),
    /**
     * The error of the run before it, whose model could not be reached. The message waits until the model's server
     * answers, or until a person sends a message or calls `workstream.proceed`.
     */
    held: z.string().optional(),
  })
  .meta({ id: 'QueuedMessage' });
export type QueuedMessage = z.infer<typeof QueuedMessage>;

const WsId = z.string();
const RunId = NonEmpty.max(256);

/** The messages that wait in a workstream. They are stored, and survive a kill of the daemon. */
export const queueContracts = {
  'queue.list': contract({
    summary: 'The messages that wait in a workstream, in the order in which they will be sent.',
    scope: 'read',
    params: () => z.strictObject({ wsId: WsId }).meta({ id: 'QueueListParams' }),
    result: () => z.strictObject({ messages: z.array(QueuedMessage) }).meta({ id: 'QueueListResult' }),
  }),
  'queue.edit': contract({
    summary: 'Replace the text of a waiting message of a person; its files are kept.',
    scope: 'write',
    params: () => z.strictObject({ wsId: WsId, runId: RunId, message: z.string() }).meta({ id: 'QueueEditParams' }),
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'QueueEditResult' }),
  }),
  'queue.move': contract({
    summary: 'Move a waiting message to another place in the queue.',
    scope: 'write',
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          runId: RunId,
          /**
           * 0: it is sent next. A place after the last one means the last. Messages for the run in progress stay before the
           * others.
           */
          to: z.int().min(0),
        })
        .meta({ id: 'QueueMoveParams' }),
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'QueueMoveResult' }),
  }),
  'queue.steer': contract({
    summary: 'Give a waiting message of a person to the run in progress, before the model’s next turn.',
    scope: 'write',
    params: () => z.strictObject({ wsId: WsId, runId: RunId }).meta({ id: 'QueueSteerParams' }),
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'QueueSteerResult' }),
  }),
  'queue.remove': contract({
    summary: 'Take a waiting message back; its files can be sent again.',
    scope: 'write',
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          /** The run's id, or the `clientSendId` or idempotency key of the caller's own message. */
          runId: RunId,
          idempotencyKey: optionalKey(),
        })
        .meta({ id: 'QueueRemoveParams' }),
    result: () =>
      z
        .strictObject({
          /** False: it no longer waits, because it was sent or taken back. */
          removed: z.boolean(),
        })
        .meta({ id: 'QueueRemoveResult' }),
    idempotency: 'optional',
  }),
};
