import { z } from 'zod';
import { contract } from '../contract.ts';
import { IdempotencyKey, NonEmpty, optionalText } from '../frames.ts';

/** Messages to destinations outside, over a channel. */
export const sendContracts = {
  send: contract({
    summary: 'Accept a message for a destination. It is delivered at least once, or given up and shown by `status`.',
    scope: 'write',
    params: () =>
      z
        .strictObject({
          /** A webhook destination of config.json, or a session key. */
          to: NonEmpty.max(256),
          message: NonEmpty.max(262_144),
          idempotencyKey: IdempotencyKey,
          mediaUrl: optionalText(2_048),
          /** `webhook` or `workstream`. Default: the first that has the destination. */
          provider: optionalText(64),
        })
        .meta({ id: 'SendParams' }),
    result: () =>
      z
        .strictObject({ runId: NonEmpty, messageId: NonEmpty, provider: NonEmpty, chatId: NonEmpty })
        .meta({ id: 'SendResult' }),
    idempotency: 'required',
  }),
};
