import { z } from 'zod';
import { contract } from '../../contract.ts';
import { BackgroundCommand } from '../../events/background-command.ts';
import { NonEmpty } from '../../frames.ts';

const WsId = z.string();
const CommandId = NonEmpty.max(128);
const Count = z.int().min(0);

/** The commands that the agent has started in the background. The event `background_command` reports their changes. */
export const backgroundContracts = {
  'background.list': contract({
    summary: 'The background commands of a workstream: those that run, and the latest that have ended.',
    scope: 'read',
    params: () => z.strictObject({ wsId: WsId }).meta({ id: 'BackgroundListParams' }),
    result: () =>
      z
        .strictObject({
          /** In the order in which they were started. */
          commands: z.array(BackgroundCommand),
        })
        .meta({ id: 'BackgroundListResult' }),
  }),
  'background.output': contract({
    summary: 'A part of the output of a background command, also while it runs.',
    scope: 'read',
    weight: 3,
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          commandId: CommandId,
          /** In bytes, as for `output.read`. Default: where the last `limit` bytes begin. */
          offset: Count.optional(),
          limit: z.int().min(1).max(131_072).optional(),
        })
        .meta({ id: 'BackgroundOutputParams' }),
    result: () =>
      z
        .strictObject({
          command: BackgroundCommand,
          text: z.string(),
          offset: Count,
          /** Of what is stored: at most the first 64 MiB. */
          totalBytes: Count,
        })
        .meta({ id: 'BackgroundOutputResult' }),
  }),
  'background.kill': contract({
    summary: 'End a background command, with everything that it has started.',
    scope: 'write',
    params: () => z.strictObject({ wsId: WsId, commandId: CommandId }).meta({ id: 'BackgroundKillParams' }),
    result: () =>
      z
        .strictObject({
          /** False: it had ended before. */
          killed: z.boolean(),
          command: BackgroundCommand,
        })
        .meta({ id: 'BackgroundKillResult' }),
  }),
};
