import { z } from 'zod';
import { contract } from '../../contract.ts';
import { NonEmpty, optionalKey, optionalText } from '../../frames.ts';
import { FilesChanged, OnConflictParam } from './checkpoint.ts';

const Count = z.int().min(0);
const WsId = z.string();

const Resent = z.strictObject({ status: z.literal('ok'), runId: NonEmpty }).meta({ id: 'WorkstreamResent' });

/** Takes back messages of a workstream, sends them again, and copies its conversation. BUSY while a run is in progress. */
export const takingBackContracts = {
  'workstream.rewind': contract({
    summary:
      'Take back the last turns of the person, or everything after a message; with `files`, also what their runs changed on disk.',
    scope: 'write',
    weight: 3,
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          /** Messages of the person, with their answers. Either this or `toSeq`. */
          turns: z.int().min(1).optional(),
          /** The last message to keep: the end of a turn, or 0. */
          toSeq: Count.optional(),
          /** Also takes back what the runs of these turns changed on disk. Default: false. */
          files: z.boolean().optional(),
          /** With `files`: what to do with files that are not as the runs left them. Default: `refuse`. */
          onConflict: OnConflictParam.optional(),
          idempotencyKey: optionalKey(),
        })
        .refine(({ turns, toSeq }) => (turns === undefined) !== (toSeq === undefined), 'either turns or toSeq')
        .meta({ id: 'WorkstreamRewindParams' }),
    result: () =>
      z
        .strictObject({
          status: z.literal('ok'),
          /** Messages after this one no longer count. */
          afterSeq: Count,
          /** How many messages were taken back. */
          taken: Count,
          /** With `files`. */
          files: FilesChanged.optional(),
        })
        .meta({ id: 'WorkstreamRewindResult' }),
    idempotency: 'optional',
  }),
  'workstream.retry': contract({
    summary: 'Answer a message of the person again, in place of its answer or failure and everything after it.',
    scope: 'write',
    weight: 3,
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          /** The message; default: the last one of the person. */
          seq: z.int().min(1).optional(),
          idempotencyKey: optionalKey(),
        })
        .meta({ id: 'WorkstreamRetryParams' }),
    result: () => Resent,
    idempotency: 'optional',
  }),
  'workstream.edit': contract({
    summary: 'Send a text in place of a message of the person and everything after it; its files are kept.',
    scope: 'write',
    weight: 3,
    params: () =>
      z
        .strictObject({ wsId: WsId, seq: z.int().min(1), message: z.string(), idempotencyKey: optionalKey() })
        .meta({ id: 'WorkstreamEditParams' }),
    result: () => Resent,
    idempotency: 'optional',
  }),
  'workstream.remove': contract({
    summary: 'Remove a message whose run failed without an answer.',
    scope: 'write',
    weight: 3,
    params: () =>
      z
        .strictObject({ wsId: WsId, seq: z.int().min(1), idempotencyKey: optionalKey() })
        .meta({ id: 'WorkstreamRemoveParams' }),
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'WorkstreamRemoveResult' }),
    idempotency: 'optional',
  }),
  'workstream.fork': contract({
    summary: 'Copy a conversation, up to the end of a turn, into a new workstream with the same folder and model.',
    scope: 'write',
    permission: 'workstreams.create',
    weight: 3,
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          /** The last message to copy; default: the last one. */
          seq: z.int().min(1).optional(),
          name: optionalText(128),
          idempotencyKey: optionalKey(),
        })
        .meta({ id: 'WorkstreamForkParams' }),
    result: () =>
      z.strictObject({ wsId: NonEmpty, name: NonEmpty, messageCount: Count }).meta({ id: 'WorkstreamForkResult' }),
    idempotency: 'optional',
  }),
};
