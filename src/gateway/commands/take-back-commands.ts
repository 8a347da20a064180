import { type CommandName, usageOf } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Forks } from '../cuts/forks.ts';
import type { Rewinds } from '../cuts/rewinds.ts';
import type { LiveSettings } from '../live-settings.ts';
import { mayPerceive, newlyOwned, sightInCommon } from '../sharing/perception.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { CommandCaller } from './command.ts';

interface TakeBackDeps {
  rewinds: Rewinds;
  forks: Forks;
  live: Pick<LiveSettings, 'visibility'>;
}

/** Runs a command; returns what to say about it. */
export type TakeBack = (argument: string, workstream: Workstream, by: CommandCaller) => Promise<string | undefined>;

/** The commands that take messages back, or send them again. `#7` at the beginning of an argument names message 7. */
export const createTakeBackCommands = ({ rewinds, forks, live }: TakeBackDeps) =>
  ({
    async retry(argument, workstream, by) {
      await rewinds.retry(workstream, toOnlyNumber('retry', argument), by);
      return undefined;
    },
    async rewind(argument, workstream) {
      const { turns, files } = toRewind(argument);
      const wish = files ? { files: { onConflict: 'refuse' as const, choices: [] } } : {};
      const { taken, files: done } = await rewinds.rewind(workstream, { turns, ...wish });
      return `${taken === 1 ? '1 message was' : `${taken} messages were`} taken back. ${onDisk(done?.changed.length)}`;
    },
    async edit(argument, workstream, by) {
      const { seq, rest: message } = splitNumber(argument);
      if (message === '') throw usage('edit');
      await rewinds.edit(workstream, { seq, message }, by);
      return undefined;
    },
    async remove(argument, workstream) {
      await rewinds.remove(workstream, toOnlyNumber('remove', argument));
      return undefined;
    },
    async fork(argument, workstream, { viewer }) {
      const { seq: asked, rest: name } = splitNumber(argument);
      const made = await forks.fork(workstream, { asked, name, owned: newlyOwned(viewer, live) });
      // Not everyone who reads this may know of the copy.
      const isKnown = mayPerceive(sightInCommon(workstream.data), made);
      return `The conversation was copied to ${isKnown ? `${made.name} (${made.wsId})` : 'a new private workstream'}.`;
    },
  }) satisfies Record<string, TakeBack>;

/** `2 files`: two turns, with what they changed on disk. */
function toRewind(argument: string): { turns: number; files: boolean } {
  const found = /^(\d{1,9})?\s*(files)?$/.exec(argument);
  const turns = Number(found?.[1] ?? 1);
  if (!found || turns < 1) throw usage('rewind');
  return { turns, files: found[2] !== undefined };
}

/** The mark is required where a text follows, because a text may begin with a number. */
function splitNumber(argument: string): { seq: number | undefined; rest: string } {
  const [, digits, rest = ''] = /^#(\d{1,9})(?:\s+(\S[\s\S]*)?)?$/.exec(argument) ?? [];
  return digits === undefined ? { seq: undefined, rest: argument } : { seq: Number(digits), rest };
}

const onDisk = (files = 0): string =>
  files === 0 ? 'Files were not changed.' : `${files === 1 ? '1 file is' : `${files} files are`} as before.`;

/** For commands that take nothing else; here, the mark may be left out. */
function toOnlyNumber(name: 'retry' | 'remove', argument: string): number | undefined {
  if (argument === '') return undefined;
  const [, digits] = /^#?(\d{1,9})$/.exec(argument) ?? [];
  if (digits === undefined) throw usage(name);
  return Number(digits);
}

const usage = (name: CommandName) => new GatewayError('INVALID_REQUEST', `Usage: ${usageOf(name)}`);
