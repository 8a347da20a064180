import { z } from 'zod';
import { contract } from '../contract.ts';
import { IdempotencyKey, NonEmpty, optionalText } from '../frames.ts';
import { Notice } from '../notice.ts';

/** Messages to destinations outside, over a channel. */
export const sendContracts = {
  send: contract({
    summary: 'Accept a message for a destination. It is delivered at least once, or given up and shown by `status`.',
    scope: 'write',
    params: () =>
      z
        .strictObject({
          /**
           * A webhook destination of config.json, a session key, or a chat. With the provider `last`, a session: the message
           * goes to the chat from which people last wrote to it. Default: the main session.
           */
          to: optionalText(256),
          message: NonEmpty.max(262_144),
          idempotencyKey: IdempotencyKey,
          mediaUrl: optionalText(2_048),
          /** `last`, or the name of a channel. Default: the first that has the destination. */
          provider: optionalText(64),
        })
        .refine(({ to, provider }) => to !== undefined || provider?.trim().toLowerCase() === 'last', {
          path: ['to'],
          error: 'is required, except with the provider "last"',
        })
        .meta({ id: 'SendParams' }),
    result: () =>
      z
        .strictObject({
          runId: NonEmpty,
          messageId: NonEmpty,
          provider: NonEmpty,
          chatId: NonEmpty,
          /** What the sender should know about the delivery. Absent if there is nothing. */
          notices: z.array(Notice).optional(),
        })
        .meta({ id: 'SendResult' }),
    idempotency: 'required',
  }),
};
