import { usageOf } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Forks } from '../cuts/forks.ts';
import type { Rewinds } from '../cuts/rewinds.ts';
import type { Rights } from '../rights.ts';
import type { Workstream } from '../workstreams/workstream.ts';

interface TakeBackDeps {
  rewinds: Rewinds;
  forks: Forks;
}

/** Runs a command; returns what to say about it. */
export type TakeBack = (
  argument: string,
  workstream: Workstream,
  by: { principal: string; rights: Rights },
) => Promise<string | undefined>;

/** The commands that take messages back, or send them again. */
export const createTakeBackCommands = ({ rewinds, forks }: TakeBackDeps) =>
  ({
    async retry(_argument, workstream, by) {
      await rewinds.retry(workstream, by);
      return undefined;
    },
    async rewind(argument, workstream) {
      const turns = argument === '' ? 1 : Number(argument);
      if (!Number.isSafeInteger(turns) || turns < 1) throw usage('rewind');
      const { taken } = await rewinds.rewind(workstream, { turns });
      return `${taken === 1 ? '1 message was' : `${taken} messages were`} taken back. Files were not changed.`;
    },
    async edit(message, workstream, by) {
      if (message === '') throw usage('edit');
      await rewinds.edit(workstream, { seq: undefined, message }, by);
      return undefined;
    },
    async remove(_argument, workstream) {
      await rewinds.remove(workstream, undefined);
      return undefined;
    },
    async fork(name, workstream) {
      const made = await forks.fork(workstream, { name });
      return `The conversation was copied to ${made.name} (${made.wsId}).`;
    },
  }) satisfies Record<string, TakeBack>;

const usage = (name: 'rewind' | 'edit') => new GatewayError('INVALID_REQUEST', `Usage: ${usageOf(name)}`);
